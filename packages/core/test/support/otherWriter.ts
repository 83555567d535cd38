import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

const PROGRAM = `
const { workerData: { driver, path, state } } = require('node:worker_threads');
const Database = require(driver);
const db = new Database(path, { timeout: 60000 });
for (;;) {
  Atomics.wait(state, 0, 0);
  if (state[0] < 0) break;
  db.exec('BEGIN IMMEDIATE');
  const ms = state[0];
  Atomics.store(state, 1, 1);
  Atomics.notify(state, 1);
  Atomics.wait(state, 2, 0, ms);
  db.exec('ROLLBACK');
  Atomics.store(state, 0, 0);
}
db.close();
`;

/** Somebody else who writes a state file, in a thread: it goes on while this one waits. */
export function otherWriter(path: string): {
  /** Returns once it has the file, which it holds for so long, in milliseconds. */
  readonly hold: (ms: number) => void;
  /** Lets go of it before that. */
  readonly release: () => void;
} {
  const state = new Int32Array(new SharedArrayBuffer(12));
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const worker = new Worker(PROGRAM, { eval: true, workerData: { driver, path, state } });
  onTestFinished(async () => {
    Atomics.store(state, 0, -1);
    Atomics.notify(state, 0);
    Atomics.notify(state, 2);
    await worker.terminate();
  });
  return {
    hold: (ms) => {
      while (Atomics.load(state, 0) !== 0) Atomics.wait(state, 0, Atomics.load(state, 0), 5);
      Atomics.store(state, 1, 0);
      Atomics.store(state, 0, ms);
      Atomics.notify(state, 0);
      Atomics.wait(state, 1, 0);
    },
    release: () => void Atomics.notify(state, 2),
  };
}
