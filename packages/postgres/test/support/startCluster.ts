import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runs } from '@devs/core';
import { createDatabase } from '@devs/core/state';
import type { PostgresRuns } from '../../src/PostgresRuns.ts';
import { type PostgresOptions, postgres } from '../../src/postgres.ts';
import { query } from './query.ts';
import {
  type PostgresServer,
  type PostgresOptions as ServerOptions,
  startPostgres,
} from './startPostgres.ts';

type RunIndex = NewRunFile['index'];
type NewRunFile = Parameters<Runs['create']>[0];
type HeldRunEnd = Parameters<Awaited<ReturnType<Runs['hold']>>['settle']>[0];

/** A server, and processes that keep runs in it. */
export interface Cluster {
  readonly server: PostgresServer;
  /** One more process, as it were. */
  runs(options?: Partial<PostgresOptions>): PostgresRuns;
  /** A run without anything in its file. */
  newRun(id: string): NewRunFile;
  sql(statement: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Working copies that are there. */
  copies(): readonly string[];
  stop(): Promise<void>;
}

const INDEX: RunIndex = {
  status: 'created',
  reason: null,
  title: null,
  metadata: {},
  tags: [],
  view: null,
  gates: [],
};

/** Of a run that waits for somebody. */
export const WAITING: HeldRunEnd = { ...INDEX, status: 'waiting', until: null };

export async function startCluster(options: ServerOptions = {}): Promise<Cluster> {
  const server = await startPostgres(options);
  const dir = mkdtempSync(join(tmpdir(), 'devs-cluster-'));
  const all: PostgresRuns[] = [];
  const files = new Map<string, Buffer>();
  const emptyFile = (): Buffer => {
    const made = files.get('') ?? newFile();
    files.set('', made);
    return made;
  };
  return {
    server,
    runs: (options = {}) => {
      const runs = postgres({ url: server.url, dir, ...options });
      all.push(runs);
      return runs;
    },
    newRun: (id) => ({
      id,
      queue: { graph: 'mail', fingerprint: 'f'.repeat(64) },
      file: emptyFile(),
      index: INDEX,
    }),
    sql: (statement, values) => query(server.url, statement, values),
    copies: () => readdirSync(dir, { recursive: true }).map(String),
    stop: async () => {
      await Promise.all(all.map((runs) => runs.close()));
      await server.stop();
      rmSync(dir, { recursive: true });
    },
  };
}

function newFile(): Buffer {
  const db = createDatabase({ dbPath: ':memory:' });
  const file = db.serialize();
  db.close();
  return file;
}
