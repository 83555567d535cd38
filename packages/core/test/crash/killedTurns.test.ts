import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { tried } from '../support/tried.ts';

const CHILD = 'packages/core/test/crash/killedTurns.child.ts';

/** Kills, each at another write of the chat. */
const KILLS = howMany('DEVS_TURN_KILLS', 1);

interface Chat {
  readonly status: string;
  readonly turn: string;
  readonly said: readonly string[];
  readonly writes: number;
}

async function live(file: string, dieAt = ''): Promise<Chat> {
  const { stdout, stderr } = await spawnProgram(CHILD, [file, dieAt]).finished;
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Chat;
}

/** What the model was asked, without the keys of the calls. */
const callsIn = (file: string): readonly string[] =>
  readFileSync(join(dirname(file), 'calls.log'), 'utf8')
    .split('\n')
    .filter(Boolean);

const heard = (calls: readonly string[]): readonly string[] =>
  calls.map((call) => call.slice(call.indexOf(' ') + 1));

/** How a turn stands in the file: its key, and whether its input is in the state, which is not said of the first. */
function turnsIn(file: string): readonly unknown[] {
  const db = createDatabase({ dbPath: file });
  const turns = db
    .prepare(
      'SELECT turn_key AS key, taken_at IS NOT NULL AS isTaken, ended_as AS endedAs FROM thread_inputs ORDER BY turn',
    )
    .all();
  db.close();
  return turns;
}

describe('a chat whose process is killed at a write', () => {
  test('gets every turn once: none is lost, none is applied twice, no recorded call is made again', {
    timeout: longer(300_000, KILLS / 10),
  }, async ({ dbPath, task, annotate }) => {
    const whole = await live(dbPath);
    expect(whole).toMatchObject({
      status: 'completed',
      turn: 'm-3',
      said: ['one', 'heard: 1', 'two?', 'heard: 3', 'You may.', 'three', 'heard: 6'],
    });
    const expected = heard(callsIn(dbPath));
    expect(expected).toHaveLength(3);

    const stride = whole.writes / KILLS;
    const any = Array.from(
      { length: KILLS },
      (_, kill) => 1 + Math.floor(kill * stride + randomInt(Math.ceil(stride))),
    );
    const places = [...new Set(any)];
    await annotate(`killed at writes ${places.join(', ')} of ${whole.writes}`);
    for (const place of places.filter((write) => write <= whole.writes)) {
      const dir = join(dirname(dbPath), String(place));
      mkdirSync(dir);
      const file = join(dir, 'state.sqlite');
      const first = await spawnProgram(CHILD, [file, String(place)]).finished;
      expect([place, first.signal, first.stderr]).toEqual([place, 'SIGKILL', '']);
      const { writes: _, ...again } = await live(file);
      const { writes: __, ...same } = whole;
      expect(again, `killed at write ${place}`).toEqual(same);
      expect(turnsIn(file)).toEqual([
        { key: 'm-1', isTaken: 0, endedAs: 'completed' },
        { key: 'm-2', isTaken: 1, endedAs: 'completed' },
        { key: 'm-3', isTaken: 1, endedAs: null },
      ]);
      const calls = callsIn(file);
      // One call may have been in flight: it is made again under the same key.
      expect([...new Set(heard(calls))], `killed at write ${place}`).toEqual(expected);
      expect(new Set(calls).size).toBe(3);
      expect(calls.length).toBeLessThanOrEqual(4);
    }
    tried(task, { ways: places.length });
  });
});
