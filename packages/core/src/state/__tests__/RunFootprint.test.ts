import fc from 'fast-check';
import { expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';
import { RunFootprint } from '../runs/RunFootprint.ts';

interface Made {
  readonly thread: string;
  readonly ns: string;
  /** Checkpoints in a row. */
  readonly times: number;
}

/** Threads of a run, of runs beside it whose ids begin alike, and one that graphs of two runs use. */
const THREADS = ['run', 'run/child', 'run/child/of it', 'run0', 'ru', 'user-7', 'other'];

const made = fc.record({
  thread: fc.constantFrom(...THREADS),
  ns: fc.constantFrom('', 'inner|a', 'inner|b'),
  times: fc.constantFrom(1, 2, 3, 140),
});
const INNER = [
  ['run', 'user-7', 'inner|a'],
  ['other', 'user-7', 'inner|b'],
  ['run', 'run', 'inner|a'],
] as const;

const isOf = (run: string, { thread, ns }: Pick<Made, 'thread' | 'ns'>): boolean =>
  thread === run ||
  thread.startsWith(`${run}/`) ||
  INNER.some(([of, inThread, inNs]) => of === run && inThread === thread && inNs === ns);

/** By the rule alone: since the latest one of the run itself, all that are its own or inside it. */
function expected(rows: readonly (readonly [thread: string, ns: string, id: string])[]): string {
  const since = rows.findLastIndex(([thread, ns]) => thread === 'run' && ns === '');
  const own = rows.slice(Math.max(since, 0)).filter(([thread, ns]) => isOf('run', { thread, ns }));
  return sha256Hex(JSON.stringify([own, own.map(() => []), 0]));
}

test('a footprint holds what the run has made since its latest checkpoint, however much others made meanwhile', () => {
  fc.assert(
    fc.property(fc.array(made, { maxLength: 12 }), (all) => {
      const db = createDatabase({ dbPath: ':memory:' });
      const insert = db.prepare(
        `INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, type, checkpoint, metadata_type, metadata, sha256)
         VALUES (?, ?, ?, 'json', x'', 'json', x'', x'')`,
      );
      for (const row of INNER)
        db.prepare('INSERT INTO inner_threads (run_id, thread_id, checkpoint_ns) VALUES (?, ?, ?)').run(row);
      const rows: [string, string, string][] = [];
      for (const { thread, ns, times } of all) {
        for (let time = 0; time < times; time += 1) {
          const row: [string, string, string] = [thread, ns, `${rows.length}`];
          insert.run(row);
          rows.push(row);
        }
      }
      expect(new RunFootprint(db).of('run')).toBe(expected(rows));
      db.close();
    }),
    { numRuns: 60 },
  );
});
