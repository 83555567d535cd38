import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a PostgreSQL server that is as bad as a test wants it. */
export interface PostgresProxy {
  readonly url: string;
  /** The answer to the next question that has `word` in it does not come: the question arrives, and its connection ends. */
  loseAnswer(word: string): void;
  /** How many answers were lost. */
  readonly lost: number;
  /** Nothing goes to and fro, and nobody is told so. */
  freeze(): void;
  thaw(): void;
  /** Ends all connections that there are. */
  disconnect(): void;
  close(): void;
}

export async function startProxy(url: string): Promise<PostgresProxy> {
  const upstream = new URL(url);
  const pairs = new Set<readonly [Socket, Socket]>();
  let word: string | null = null;
  let lost = 0;
  let isFrozen = false;
  const server = createServer((client) => {
    const postgres = connect(Number(upstream.port || 5432), upstream.hostname);
    const pair = [client, postgres] as const;
    pairs.add(pair);
    let losesAnswer = false;
    const end = (): void => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on('error', () => undefined).on('close', end);
    if (isFrozen) for (const socket of pair) socket.pause();
    client.on('data', (bytes: Buffer) => {
      if (word !== null && bytes.includes(word)) [word, losesAnswer] = [null, true];
      postgres.write(bytes);
    });
    postgres.on('data', (bytes: Buffer) => {
      if (!losesAnswer) return void client.write(bytes);
      lost += 1;
      end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = new URL(url);
  own.hostname = '127.0.0.1';
  own.port = String((server.address() as AddressInfo).port);
  const disconnect = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    url: own.href,
    loseAnswer: (next) => {
      word = next;
    },
    get lost() {
      return lost;
    },
    freeze: () => {
      isFrozen = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    disconnect,
    close: () => {
      disconnect();
      server.close();
    },
  };
}
