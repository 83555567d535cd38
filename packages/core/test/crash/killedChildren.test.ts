import { randomInt } from 'node:crypto';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { type Death, DyingFile } from '../gates/DyingFile.ts';
import { effectsOnce } from '../support/effectsOnce.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { tried } from '../support/tried.ts';
import { EFFECTS, familyIn, raise, raised } from './childrenLife.ts';

/** Processes that are killed at a write, each another one. */
const KILLS = howMany('DEVS_CHILD_KILLS', 1);
/** Of the writes, one in so many is died at; which, is another in every run. */
const EVERY = howMany('DEVS_CHILD_DEATHS_EVERY', 120);

/** As the file has a family after a life without a death. */
const LIVED = (id: string) => ({
  runs: [
    [id, 'completed'],
    [`${id}-asking`, 'completed'],
    [`${id}-left-leaf`, 'completed'],
    [`${id}-middle`, 'completed'],
  ],
  edges: [
    [`${id}-asking`, id, 'completed'],
    [`${id}-left-leaf`, `${id}-middle`, 'completed'],
    [`${id}-middle`, id, 'completed'],
  ],
  waits: [
    [id, `${id}-asking`, 'met', 2],
    [id, `${id}-middle`, 'met', 1],
    [`${id}-middle`, `${id}-left-leaf`, 'met', 1],
  ],
  finished: [
    [id, 1],
    [`${id}-asking`, 1],
    [`${id}-left-leaf`, 1],
    [`${id}-middle`, 1],
  ],
});

/** Nobody is left over: whatever was begun below has ended as it did, or with its parent. */
function statusesIn(file: ReturnType<typeof familyIn>): readonly string[] {
  return (file.runs as readonly (readonly [string, string])[]).map(([, status]) => status);
}

describe('a run with children', () => {
  test('in a process that is killed at a write, and in the next', {
    timeout: longer(300_000, KILLS / 10),
  }, async ({ dbPath, task, annotate }) => {
    const dir = dirname(dbPath);
    const program = 'packages/core/test/crash/killedChildren.child.ts';
    for (let kill = 0; kill < KILLS; kill += 1) {
      const cancel = String(kill % 2 === 1);
      const [file, effects] = [join(dir, `${kill}.sqlite`), join(dir, `${kill}.effects`)];
      const write = 20 + randomInt(150);
      await annotate(`killed at write ${write}`);
      const died = await spawnProgram(program, [file, effects, cancel, String(write)]).finished;
      expect(died.signal, died.stderr + died.stdout).toBe('SIGKILL');
      const lived = await spawnProgram(program, [file, effects, cancel]).finished;
      const db = createDatabase({ dbPath: file });
      const left = familyIn(db, 'run');
      db.close();
      if (cancel === 'true') {
        expect([write, lived.stderr, lived.stdout]).toEqual([write, '', JSON.stringify(['cancelled'])]);
        expect(statusesIn(left).every((status) => status === 'cancelled' || status === 'completed')).toBe(
          true,
        );
      } else {
        expect([write, lived.stderr, lived.stdout]).toEqual([write, '', JSON.stringify(raised('run'))]);
        expect([write, left]).toEqual([write, LIVED('run')]);
        expect(effectsOnce(effects)).toEqual(EFFECTS);
      }
      tried(task, { ways: kill + 1 });
    }
  });

  for (const cancel of [false, true]) {
    test(`in processes that die at any write, ${cancel ? 'cancelled half way' : 'to its end'}`, {
      timeout: longer(300_000, 30 / EVERY),
    }, async ({ dbPath, db, task }) => {
      const effects = join(dirname(dbPath), 'effects');
      const open = (death: Death | null) => {
        const own = createDatabase({ dbPath });
        own.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
        return { own, file: new DyingFile(own, death) };
      };
      const whole = open(null);
      await raise(whole.own, 'whole', { effects, cancel });
      if (!cancel) expect(familyIn(db, 'whole')).toEqual(LIVED('whole'));
      whole.own.close();
      let deaths = 0;
      for (let write = 1 + randomInt(EVERY); write <= whole.file.writes; write += EVERY) {
        for (const side of ['before', 'after'] as const) {
          const run = `${side}-${write}`;
          const given = { effects: `${effects}-${run}`, cancel };
          const dying = open({ write, side });
          const survived = await raise(dying.own, run, given).catch(() => null);
          deaths += survived === null ? 1 : 0;
          dying.own.close();
          db.prepare('UPDATE threads SET lease_owner = NULL').run(); // what its death does for a real process
          const next = open(null);
          const ended = await raise(next.own, run, given);
          next.own.close();
          const left = familyIn(db, run);
          if (cancel) {
            expect([run, ended]).toEqual([run, ['cancelled']]);
            const open = statusesIn(left).filter((one) => one !== 'cancelled' && one !== 'completed');
            expect([run, open]).toEqual([run, []]);
          } else {
            expect([run, ended]).toEqual([run, raised(run)]);
            expect([run, left]).toEqual([run, LIVED(run)]);
            expect([run, effectsOnce(given.effects)]).toEqual([run, EFFECTS]);
          }
          tried(task, { ways: deaths });
        }
      }
      expect(deaths).toBeGreaterThan(0);
    });
  }
});
