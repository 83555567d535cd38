import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { internalsOf } from '../../src/engine/appInternals.ts';
import { type Death, DyingFile } from '../gates/DyingFile.ts';
import { effectsOnce } from '../support/effectsOnce.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { tried } from '../support/tried.ts';
import { napping } from './napping.ts';
import { LIVED, live, waitsIn } from './waitsLife.ts';

/** Processes that are killed at a write, each another one. */
const KILLS = howMany('DEVS_WAIT_KILLS', 1);
/** Of the writes, one in so many is died at; which, is another in every run. */
const EVERY = howMany('DEVS_WAIT_DEATHS_EVERY', 80);

/** As the file has them after a life without a death. */
const WAITS = {
  states: [
    ['due', 3],
    ['met', 1],
  ],
  signals: [1, 1],
  events: [3, 1, 1],
};

describe('a run that sleeps and waits', () => {
  test('in a process that is killed at a write, and in the next', {
    timeout: longer(300_000, KILLS / 10),
  }, async ({ dbPath, task, annotate }) => {
    const dir = dirname(dbPath);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const [file, effects] = [join(dir, `${kill}.sqlite`), join(dir, `${kill}.effects`)];
      const write = 20 + randomInt(130);
      await annotate(`killed at write ${write}`);
      const program = 'packages/core/test/crash/killedWaits.child.ts';
      const died = await spawnProgram(program, [file, effects, String(write)]).finished;
      expect(died.signal, died.stderr + died.stdout).toBe('SIGKILL');
      const lived = await spawnProgram(program, [file, effects]).finished;
      expect([write, lived.stderr, lived.stdout]).toEqual([write, '', JSON.stringify(LIVED)]);
      const db = createDatabase({ dbPath: file });
      expect([write, waitsIn(db, 'run')]).toEqual([write, WAITS]);
      db.close();
      expect(effectsOnce(effects)).toEqual(['asleep', 'awake', 'beside']);
      tried(task, { ways: kill + 1 });
    }
  });

  test('in processes that die at any write', { timeout: longer(300_000, 20 / EVERY) }, async ({
    dbPath,
    db,
    task,
  }) => {
    const effects = join(dirname(dbPath), 'effects');
    const open = (death: Death | null) => {
      const own = createDatabase({ dbPath });
      own.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
      return { own, file: new DyingFile(own, death) };
    };
    const whole = open(null);
    expect(await live(whole.own, 'whole', effects)).toEqual(LIVED);
    expect(waitsIn(db, 'whole')).toEqual(WAITS);
    whole.own.close();
    let deaths = 0;
    for (let write = 1 + randomInt(EVERY); write <= whole.file.writes; write += EVERY) {
      for (const side of ['before', 'after'] as const) {
        const run = `${side}-${write}`;
        const dying = open({ write, side });
        const survived = await live(dying.own, run, `${effects}-${run}`).catch(() => null);
        deaths += survived === null ? 1 : 0;
        dying.own.close();
        db.prepare('UPDATE threads SET lease_owner = NULL').run(); // what its death does for a real process
        const next = open(null);
        expect([run, await live(next.own, run, `${effects}-${run}`)]).toEqual([run, LIVED]);
        next.own.close();
        expect([run, waitsIn(db, run)]).toEqual([run, WAITS]);
        expect([run, effectsOnce(`${effects}-${run}`)]).toEqual([run, ['asleep', 'awake', 'beside']]);
        tried(task, { ways: deaths });
      }
    }
    expect(deaths).toBeGreaterThan(150 / EVERY);
  });
});

describe('several processes that drive what is due', () => {
  test('drive each run once', { timeout: 30_000 }, async ({ dbPath }) => {
    const now = Date.UTC(2026, 0, 2);
    const ids = Array.from({ length: 12 }, (_, index) => `run-${index}`);
    const app = napping(dbPath, () => now);
    for (const id of ids) await app.run(id, {});
    const start = join(dirname(dbPath), 'start');
    const workers = [1, 2, 3].map(() =>
      spawnProgram('packages/core/test/crash/dueWorker.child.ts', [dbPath, start, String(now + 3_600_000)]),
    );
    await Promise.all(
      workers.map(({ child }) => new Promise((resolve) => child.stdout?.once('data', resolve))),
    );
    writeFileSync(start, '');
    const ended = await Promise.all(workers.map(({ finished }) => finished));
    const driven = ended.map(({ stdout, stderr }) => {
      expect(stderr).toBe('');
      return JSON.parse(stdout.split('\n')[1] ?? '[]') as readonly string[];
    });
    expect(driven.flat().sort()).toEqual(ids.map((id) => `${id} completed`).sort());
    expect(driven.filter(({ length }) => length > 0).length).toBeGreaterThan(1);
    const fired = internalsOf(app)
      .store.db.prepare("SELECT count(*) FROM events WHERE name = 'TIMER_FIRED'")
      .pluck()
      .get();
    expect(fired).toBe(ids.length);
    app.close();
  });
});
