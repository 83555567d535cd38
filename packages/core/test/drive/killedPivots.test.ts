import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { openReadOnly } from '../../src/db/createDatabase.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';
import { test } from '../support/fixtures.ts';
import { programFile } from '../support/programFile.ts';

const program = new URL('pivots.child.ts', import.meta.url);

/** Drives the run in a process of its own; `null` when that killed itself. */
function drive(file: string, dieAt = ''): unknown {
  const { signal, stdout, stderr } = spawnSync(process.execPath, [programFile(program), file, dieAt], {
    encoding: 'utf8',
  });
  expect(signal, stderr).toBe(dieAt === '' ? null : 'SIGKILL');
  return dieAt === '' ? JSON.parse(stdout) : null;
}

/** How often each call was made, by what it was for and its key. */
function callsOf(file: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of readFileSync(join(dirname(file), 'calls.log'), 'utf8')
    .trim()
    .split('\n')) {
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return counts;
}

const isPivot = ([call]: readonly [string, number]): boolean => call.startsWith('T1 pivot');

/** In the order in which a run reaches them. The kills in a call are those that may repeat it. */
const POINTS = [
  'T1 pivot',
  'recorded pivot',
  'finished pivot_agent',
  'T1 pivot again',
  'recorded pivotAgain',
  'gate opened',
] as const;

describe('a run that is killed around its pivots', { timeout: 120_000 }, () => {
  test('never asks twice what is recorded, and counts as if nothing had happened', ({ dbPath }) => {
    const whole = join(dirname(dbPath), 'whole', 'state.sqlite');
    mkdirSync(dirname(whole));
    const expected = drive(whole);
    expect(expected).toMatchObject({
      status: 'waiting',
      gates: [{ kind: 'task_failure', artifact: { reason: 'pivots_exhausted', attempts: 6 } }],
      taskAttempts: 6,
      taskPivots: 1,
      errors: [1, 2, 3],
    });

    for (const point of POINTS) drive(dbPath, point);
    expect(drive(dbPath)).toEqual(expected);
    const pivots = [...callsOf(dbPath)]
      .filter(isPivot)
      .map(([call, times]) => [call.replace(/ run.*/, ''), times]);
    expect(pivots).toEqual([
      ['T1 pivot', 2], // killed in the call: made again, with the same key
      ['T1 pivot', 1],
      ['T1 pivot again', 2],
    ]);

    const db = openReadOnly({ dbPath });
    expect(new HitlSessionStore(db).listOpen('run')).toMatchObject([{ kind: 'task_failure' }]);
    db.close();
  });
});
