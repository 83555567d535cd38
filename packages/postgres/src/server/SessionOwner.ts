import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DevsError } from '@devs/core';
import pg, { type Client, type ClientConfig, type QueryResult, type QueryResultRow } from 'pg';
import { isAway, pooledFault, unreachable } from './faults.ts';
import { DEAD_AFTER_MS, type Owner } from './Owner.ts';
import { SERVER_NOW, ServerClock } from './ServerClock.ts';
import { quoteIdentifier } from './Tables.ts';

/** What `devs workers` says of a process. */
export interface OwnerDetails {
  readonly slots: number;
  /** Names of the queues that it fetches from. */
  readonly graphs: readonly string[];
  readonly draining: boolean;
  /** Its retention of ended runs, ms; `null` without one. */
  readonly retentionMs: number | null;
}

/** One comparison of what a process holds with what it has by the rows. */
export interface LeaseComparison {
  /** That it holds, those of claims under way included. */
  readonly leases: readonly string[];
  /** Told what it has by the rows, lease by run. Does not throw. */
  readonly compare: (rows: ReadonlyMap<string, string>) => void;
  /** Told that the rows could not be read. */
  readonly failed: () => void;
}

export interface SessionOwnerOptions {
  /** Of a server, not of a pooler in transaction mode: the lock and the channels are of one session. */
  readonly connection: ClientConfig;
  readonly schema: string;
  /** Set with every sign of life. @defaultValue one of its own */
  readonly clock?: ServerClock;
  /** How long {@link SessionOwner.ready} waits for PostgreSQL, ms. @defaultValue 60,000 */
  readonly awayMs?: number;
}

const BEAT_MS = 2000;
/** Between two tries to connect, ms: doubled up to the last. */
const FIRST_GAP_MS = 20;
const LAST_GAP_MS = 1000;
/**
 * After a lost session a process waits so long before it leads, ms. If the server was away, the others come back meanwhile, and
 * touch their jobs.
 */
const COME_BACK_MS = 7000;
/** The first half of the keys: locks of others have other ones. */
const LOCK_CLASS = 0x64657673n << 32n;
const LEADER_CLASS = 0x64657674;

interface HeldRow {
  readonly run_id: string | null;
  readonly lease: string;
}

const SESSION = `pg_backend_pid() AS pid, ${SERVER_NOW} AS server_ms`;

interface SessionRow {
  readonly pid: number;
  readonly server_ms: number;
}

/** One connection, from its begin to its end; what is asked of it is asked one after the other. */
class OwnedSession {
  readonly client: Client;
  /** Of its own: one that has not ended on the other side keeps its lock. */
  readonly lockKey = (LOCK_CLASS | BigInt(randomBytes(4).readUInt32BE())).toString();
  readonly ended: Promise<unknown>;
  leads = false;
  /** When it may lead, on the clock of `performance`. */
  readonly leadsFrom: number;
  /** The session of the server; `null` before the first question. */
  #pid: number | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: Client, leadsFrom: number) {
    this.client = client;
    this.leadsFrom = leadsFrom;
    this.ended = new Promise((resolve) => client.once('end', resolve));
  }

  ask<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
    const asked = this.#last.then(() => this.client.query<Row>(sql, [...values]));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  /**
   * Compares the session of the server that has answered: a lock and `LISTEN` are of one.
   *
   * @throws DevsError `CONFIG_INVALID` if it is another one than before.
   */
  checkPid(pid: number | undefined): void {
    this.#pid ??= pid ?? null;
    if (pid !== undefined && pid !== this.#pid) throw pooledFault();
  }

  /** Not waited for: the other side may be gone. */
  end(): void {
    void this.client.end().catch(() => undefined);
  }
}

/**
 * A process, known to others by a lock of its one direct connection. It connects when it is first asked for, and again
 * whenever the connection ends; what it held until then may have been given to others.
 */
export class SessionOwner implements Owner {
  /** Unique per start: a number of a process comes again. */
  readonly id = `${hostname()}:${process.pid}:${randomBytes(6).toString('hex')}`;
  readonly #options: SessionOwnerOptions;
  readonly #clock: ServerClock;
  readonly #workers: string;
  readonly #runs: string;
  #compared: () => LeaseComparison = () => ({
    leases: [],
    compare: () => undefined,
    failed: () => undefined,
  });
  readonly #listeners = new Map<string, Set<(payload: string | null) => void>>();
  readonly #closing = new AbortController();
  #details: OwnerDetails = { slots: 0, graphs: [], draining: false, retentionMs: null };
  #kept: Promise<void> | null = null;
  #session: OwnedSession | null = null;
  #failure: unknown = null;
  /** Until the first session, or try for one, has ended. */
  #isFirst = true;
  /** Of who waits for the session: told when it is there, and when a try for it has failed. */
  #waiting: (() => void)[] = [];

  constructor(options: SessionOwnerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? new ServerClock();
    this.#workers = `${quoteIdentifier(options.schema)}.workers`;
    this.#runs = `${quoteIdentifier(options.schema)}.runs`;
  }

  get isReady(): boolean {
    return this.#session !== null;
  }

  async ready(): Promise<void> {
    this.#start();
    const until = performance.now() + (this.#options.awayMs ?? 60_000);
    while (!this.isReady) {
      if (this.#closing.signal.aborted) throw away(new Error('The session is closed.'));
      await new Promise<void>((tried) => this.#waiting.push(tried));
      if (this.isReady) return;
      if (this.#failure !== null && !isAway(this.#failure)) throw this.#failure;
      if (performance.now() > until) throw away(this.#failure);
    }
  }

  listen(channel: string, tell: (payload: string | null) => void): () => void {
    const told = this.#listeners.get(channel);
    if (told === undefined) {
      this.#listeners.set(channel, new Set([tell]));
      void this.#session?.ask(`LISTEN ${quoteIdentifier(channel)}`).then(
        () => tell(null),
        () => undefined,
      );
    } else told.add(tell);
    this.#start();
    return () => void this.#listeners.get(channel)?.delete(tell);
  }

  /** With every beat, and as a session begins: what this process holds, and what it has by the rows. */
  compares(begin: () => LeaseComparison): void {
    this.#compared = begin;
  }

  /** Whether it looks after the others: one of all processes does, as long as its session lives. */
  async leads(): Promise<boolean> {
    const session = this.#session;
    if (session === null || performance.now() < session.leadsFrom) return false;
    if (session.leads) return true;
    const lock = `SELECT pg_try_advisory_lock($1, hashtext($2)) AS leads`;
    const { rows } = await session.ask<{ leads: boolean }>(lock, [LEADER_CLASS, this.#options.schema]);
    session.leads = rows[0]?.leads === true;
    return session.leads;
  }

  /** Gives up the lead, for another process. */
  async resign(): Promise<void> {
    const session = this.#session;
    if (session === null || !session.leads) return;
    session.leads = false;
    const unlock = 'SELECT pg_advisory_unlock($1, hashtext($2))';
    await session.ask(unlock, [LEADER_CLASS, this.#options.schema]).catch(() => session.end());
  }

  /** Tells others what it does. */
  async describe(details: Partial<OwnerDetails>): Promise<void> {
    this.#details = { ...this.#details, ...details };
    const session = this.#session; // without one, the next says it
    if (session !== null) await this.#register(session).catch(() => session.end());
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#closing.abort();
    await session?.ask(`DELETE FROM ${this.#workers} WHERE worker_id = $1`, [this.id]).catch(() => 0);
    await session?.client.end().catch(() => undefined);
    await this.#kept;
  }

  #start(): void {
    this.#kept ??= this.#keep();
  }

  async #keep(): Promise<void> {
    const { signal } = this.#closing;
    for (let gapMs = FIRST_GAP_MS; !signal.aborted; gapMs = Math.min(2 * gapMs, LAST_GAP_MS)) {
      try {
        await this.#live(() => {
          gapMs = FIRST_GAP_MS;
        });
      } catch (error) {
        this.#failure = error;
      }
      this.#isFirst = false;
      this.#session = null;
      this.#tried();
      await sleep(gapMs, undefined, { signal }).catch(() => undefined);
    }
    this.#tried();
  }

  #tried(): void {
    for (const tell of this.#waiting.splice(0)) tell();
  }

  /** One session, from its connection to its end. */
  async #live(connected: () => void): Promise<void> {
    const client = new pg.Client({
      ...this.#options.connection,
      keepAlive: true,
      connectionTimeoutMillis: DEAD_AFTER_MS,
      query_timeout: DEAD_AFTER_MS,
    });
    client.on('error', () => undefined);
    client.on('notification', ({ channel, payload }) => this.#tell(channel, payload ?? ''));
    const session = new OwnedSession(client, performance.now() + (this.#isFirst ? 0 : COME_BACK_MS));
    try {
      await client.connect();
      await this.#open(session);
      connected();
      await this.#beat(session);
    } finally {
      const isLeft = this.#closing.signal.aborted && this.#session === session; // with a word to say still
      if (!isLeft) session.end();
    }
  }

  async #open(session: OwnedSession): Promise<void> {
    const { lockKey } = session;
    // Twice, before anything stays in it: a pooler that takes turns has another session by now.
    for (let look = 0; look < 2; look += 1) {
      const ask = () => session.ask<SessionRow>(`SELECT ${SESSION}`);
      const { rows } = await this.#clock.reading(ask, ({ rows: [row] }) => row?.server_ms);
      session.checkPid(rows[0]?.pid);
    }
    const timeout = `SELECT set_config(name, $1, false) FROM pg_settings WHERE name = 'idle_session_timeout'`;
    await session.ask(timeout, [String(DEAD_AFTER_MS)]);
    await session.ask('SELECT pg_advisory_lock($1)', [lockKey]);
    const said = this.#details;
    await this.#register(session);
    for (const channel of this.#listeners.keys()) await session.ask(`LISTEN ${quoteIdentifier(channel)}`);
    [this.#session, this.#failure] = [session, null];
    if (said !== this.#details) await this.#register(session); // before there was a session
    this.#tried();
    for (const channel of this.#listeners.keys()) this.#tell(channel, null);
  }

  async #register(session: OwnedSession): Promise<void> {
    const { slots, graphs, draining, retentionMs } = this.#details;
    await session.ask(
      `INSERT INTO ${this.#workers} AS w (worker_id, lock_key, host, pid, slots, graphs, draining, retention_ms)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (worker_id)
       DO UPDATE SET lock_key = $2, slots = $5, graphs = $6, draining = $7, retention_ms = $8, seen_at = now()`,
      [
        this.id,
        session.lockKey,
        hostname(),
        process.pid,
        slots,
        JSON.stringify(graphs),
        draining,
        retentionMs,
      ],
    );
  }

  /** Ends with the session; who finds that he was taken for dead begins a new one. */
  async #beat(session: OwnedSession): Promise<void> {
    const isOver = session.ended.then(() => true);
    do {
      if (!(await this.#say(session))) return;
    } while (!(await Promise.race([isOver, sleep(BEAT_MS, false, { signal: this.#closing.signal })])));
  }

  /** That it is alive, and what it holds. False where it was taken for dead. */
  async #say(session: OwnedSession): Promise<boolean> {
    const { leases, compare, failed } = this.#compared();
    const beat = `
WITH beat AS (
  UPDATE ${this.#workers} SET seen_at = now(), leases = $2::uuid[], leases_at = now() WHERE worker_id = $1 RETURNING worker_id
)
SELECT r.run_id, r.lease, ${SESSION} FROM beat LEFT JOIN ${this.#runs} r ON r.owner = beat.worker_id`;
    try {
      const ask = () => session.ask<HeldRow & SessionRow>(beat, [this.id, leases]);
      const { rows } = await this.#clock.reading(ask, ({ rows: [row] }) => row?.server_ms);
      session.checkPid(rows[0]?.pid);
      const held = rows.flatMap(({ run_id, lease }) => (run_id === null ? [] : [[run_id, lease] as const]));
      if (rows.length > 0) compare(new Map(held));
      return rows.length > 0;
    } catch (error) {
      failed();
      throw error;
    }
  }

  #tell(channel: string, payload: string | null): void {
    for (const tell of this.#listeners.get(channel) ?? []) tell(payload);
  }
}

const away = (cause: unknown): DevsError =>
  unreachable(cause, 'Check the URL and that the server accepts connections.');
