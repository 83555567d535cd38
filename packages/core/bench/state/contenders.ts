import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph-checkpoint';
import { SqliteSaver as OfficialSaver } from '@langchain/langgraph-checkpoint-sqlite';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';

/** A checkpointer under measurement, over a file of its own. */
export interface Contender {
  readonly name: string;
  readonly saver: BaseCheckpointSaver;
  /** Where a journal can be kept; `null` for those that have none. */
  readonly db: Database | null;
  /** Bytes of the main file with the write-ahead log moved over; `null` in memory. */
  size(): number | null;
  close(): void;
}

type Synchronous = 'full' | 'normal';

export const NAMES = ['devs full', 'devs normal', 'official full', 'official normal', 'memory'] as const;
export type ContenderName = (typeof NAMES)[number];

/** Values of several MiB are part of the workloads, more than a state should hold. */
const LIMITS = { valueBytes: 64 * 1024 * 1024, checkpointBytes: 256 * 1024 * 1024 };

/** Opens a contender over a new file in a folder. */
export function openContender(name: ContenderName, folder: string): Contender {
  const path = join(folder, `${name.replace(' ', '-')}.sqlite`);
  switch (name) {
    case 'devs full':
      return devs(name, path, 'full');
    case 'devs normal':
      return devs(name, path, 'normal');
    case 'official full':
      return official(name, path, 'full');
    case 'official normal':
      return official(name, path, 'normal');
    case 'memory':
      return { name, saver: new MemorySaver(), db: null, size: () => null, close: () => {} };
  }
}

function devs(name: string, path: string, synchronous: Synchronous): Contender {
  const db = createDatabase({ dbPath: path, synchronous });
  const saver = new SqliteSaver(db, { limits: LIMITS });
  return { name, saver, db, size: () => sizeOf(db, path), close: () => db.close() };
}

function official(name: string, path: string, synchronous: Synchronous): Contender {
  const db = new BetterSqlite3(path);
  const saver = new OfficialSaver(db);
  (saver as unknown as { setup(): void }).setup();
  db.pragma(`synchronous = ${synchronous}`);
  return { name, saver, db: null, size: () => sizeOf(db, path), close: () => db.close() };
}

function sizeOf(db: Database, path: string): number {
  db.pragma('wal_checkpoint(TRUNCATE)');
  return statSync(path).size;
}
