import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a PostgreSQL server as through PgBouncer in transaction mode: each transaction is in the session that rests longest. */
export interface PostgresPooler {
  readonly url: string;
  /** Transactions that it has passed on. */
  readonly transactions: number;
  close(): void;
}

/** Sessions of the server, of each user and database. */
const SESSIONS = 4;
const SSL_REQUEST = 80_877_103;
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
/** What PgBouncer makes up: no process of the server has it. */
const MADE_UP_KEY = Buffer.from([0x4b, 0, 0, 0, 12, 0x7f, 0xff, 0xff, 0, 0, 0, 0, 0]);

/** Splits what arrives into whole messages; the first of a client has no type. */
class Messages {
  #rest: Buffer = Buffer.alloc(0);
  #untyped: boolean;

  constructor(isFirstUntyped: boolean) {
    this.#untyped = isFirstUntyped;
  }

  *of(bytes: Buffer): Generator<Buffer> {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const head = this.#untyped ? 0 : 1;
      if (this.#rest.length < head + 4) return;
      const length = head + this.#rest.readUInt32BE(head);
      if (this.#rest.length < length) return;
      const message = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      if (this.#untyped && message.readUInt32BE(4) !== SSL_REQUEST) this.#untyped = false;
      yield message;
    }
  }
}

interface Session {
  readonly socket: Socket;
  client: Socket | null;
}

/** Sessions of one user and database, and the clients that wait for one. */
class Pool {
  /** What the server says of itself; empty before it has. */
  greeting: Buffer = Buffer.alloc(0);
  transactions = 0;
  readonly #open: () => Socket;
  readonly #startup: Buffer;
  readonly #sessions = new Set<Session>();
  readonly #idle: Session[] = [];
  readonly #waiting: ((session: Session | null) => void)[] = [];

  constructor(startup: Buffer, open: () => Socket) {
    this.#startup = startup;
    this.#open = open;
  }

  async start(): Promise<void> {
    await Promise.all(Array.from({ length: SESSIONS }, () => this.#add()));
  }

  /** The one that rests longest; `null` where the server is away. */
  async take(client: Socket): Promise<Session | null> {
    if (this.#sessions.size < SESSIONS) await this.#add();
    if (this.#sessions.size === 0) return null;
    const session =
      this.#idle.shift() ?? (await new Promise<Session | null>((give) => this.#waiting.push(give)));
    if (session === null) return null;
    session.client = client;
    this.transactions += 1;
    return session;
  }

  end(session?: Session): void {
    for (const each of session === undefined ? this.#sessions : [session]) each.socket.destroy();
  }

  #giveBack(session: Session): void {
    session.client = null;
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(session);
    else next(session);
  }

  #add(): Promise<void> {
    const session: Session = { socket: this.#open(), client: null };
    this.#sessions.add(session);
    const messages = new Messages(false);
    let isStarted = false;
    let greeting: Buffer = Buffer.alloc(0);
    session.socket
      .on('error', () => undefined)
      .on('close', () => {
        this.#sessions.delete(session);
        if (this.#idle.includes(session)) this.#idle.splice(this.#idle.indexOf(session), 1);
        session.client?.destroy();
        if (this.#sessions.size === 0) for (const give of this.#waiting.splice(0)) give(null);
      });
    session.socket.write(this.#startup);
    return new Promise((started) => {
      session.socket.once('close', started);
      session.socket.on('data', (bytes: Buffer) => {
        for (const message of messages.of(bytes)) {
          const type = String.fromCharCode(message[0] ?? 0);
          if (isStarted) session.client?.write(message);
          else if (type === 'S') greeting = Buffer.concat([greeting, message]);
          if (type !== 'Z' || message[5] !== READY[5]) continue;
          isStarted = true;
          if (this.greeting.length === 0) this.greeting = greeting;
          this.#giveBack(session);
          started();
        }
      });
    });
  }
}

export async function startPooler(url: string): Promise<PostgresPooler> {
  const upstream = new URL(url);
  const pools = new Map<string, Promise<Pool>>();
  const clients = new Set<Socket>();
  const opened: Pool[] = [];
  const poolOf = (startup: Buffer): Promise<Pool> => {
    const key = startup.toString('latin1');
    const known = pools.get(key);
    if (known !== undefined) return known;
    const pool = new Pool(startup, () => connect(Number(upstream.port || 5432), upstream.hostname));
    opened.push(pool);
    const started = pool.start().then(() => pool);
    pools.set(key, started);
    return started;
  };
  const server = createServer((client) => {
    clients.add(client);
    const messages = new Messages(true);
    let pool: Pool | null = null;
    let session: Session | null = null;
    const handle = async (message: Buffer): Promise<void> => {
      if (pool === null) {
        if (message.readUInt32BE(4) === SSL_REQUEST) return void client.write('N');
        pool = await poolOf(message);
        const authenticated = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
        return void client.write(Buffer.concat([authenticated, pool.greeting, MADE_UP_KEY, READY]));
      }
      if (String.fromCharCode(message[0] ?? 0) === 'X') return void client.end();
      if (session?.client !== client) session = await pool.take(client);
      if (session === null) return void client.destroy();
      session.socket.write(message);
    };
    let turn = Promise.resolve();
    client
      .on('error', () => undefined)
      .on('close', () => {
        clients.delete(client);
        if (session?.client === client) pool?.end(session);
      })
      .on('data', (bytes: Buffer) => {
        for (const message of messages.of(bytes)) turn = turn.then(() => handle(message));
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = new URL(url);
  own.hostname = '127.0.0.1';
  own.port = String((server.address() as AddressInfo).port);
  return {
    url: own.href,
    get transactions() {
      return opened.reduce((sum, pool) => sum + pool.transactions, 0);
    },
    close: () => {
      for (const client of clients) client.destroy();
      for (const pool of opened) pool.end();
      server.close();
    },
  };
}
