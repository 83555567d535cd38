import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { durable } from '../../src/engine/app/durable.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';
import type { TsProcess } from '../support/spawnTs.ts';
import { tried } from '../support/tried.ts';
import { Lives, leftAfter, mayBeBetween, placesIn } from './scenarios/Lives.ts';
import type { Scenario } from './scenarios/Scenario.ts';
import { inModes, named } from './scenarios/scenarios.ts';

/** Multiplies the kills of each scenario, up to one at each statement. */
const KILLS = howMany('DEVS_LIFE_KILLS', 1);

/** Resumes the run: inside this process if that has looked at the file in between, else in a new one. */
async function goOn(scenario: Scenario, lives: Lives, run: string): Promise<unknown> {
  if (scenario.between !== undefined) return (await lives.here(run))?.outcome;
  const { stdout, stderr } = await lives.apart(run).finished;
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { readonly outcome: unknown }).outcome;
}

/**
 * A process is killed at a place, and another one goes on.
 *
 * @returns False for a statement that the process has not come to: a slow one beats more often, and has counted more.
 */
async function killedAt(scenario: Scenario, lives: Lives, place: number | string): Promise<boolean> {
  const run = `killed-${String(place).replaceAll(/[ .]/g, '-')}`;
  const died = await lives.apart(run, { place: typeof place === 'number' ? Math.ceil(place) : place })
    .finished;
  if (typeof place === 'number' && died.code === 0) return false;
  expect([place, died.signal, died.stderr]).toEqual([place, 'SIGKILL', '']);
  const where = typeof place === 'string' ? place : null;
  const said = await lives.between(run);
  if (scenario.between !== undefined) expect(await mayBeBetween(scenario, where)).toContainEqual(said);
  const outcome = await goOn(scenario, lives, run);
  expect([place, await lives.left(run, outcome)]).toEqual([place, await leftAfter(scenario, run, where)]);
  return true;
}

describe.each(inModes(({ deaths }) => deaths.byKill !== undefined, KILLS > 1))(
  '%s, %s, in a process that is killed at a statement',
  (_what, durability, scenario) => {
    test('comes in the next to what it comes to without a death', {
      timeout: longer(120_000, KILLS / 2),
    }, async ({ dbPath, task, annotate }) => {
      const lives = await Lives.of(scenario, dbPath, durable, durability);
      const statements = await lives.statements('whole');
      const places = placesIn(statements, (scenario.deaths.byKill ?? 0) * KILLS, scenario);
      await annotate(`killed at statements ${places.join(', ')} of ${statements}`);
      const killed: boolean[] = [];
      for (const place of places)
        killed.push((await killedAt(scenario, lives, place)) || (await killedAt(scenario, lives, place / 2)));
      expect(killed.filter(Boolean).length).toBeGreaterThanOrEqual(0.95 * places.length);
      tried(task, { ways: places.length });
    });
  },
);

describe.each(named(({ deaths }) => deaths.atMoments !== undefined))(
  '%s, in a process that is killed in between',
  (_what, scenario) => {
    test.for(scenario.deaths.atMoments ?? [])(
      'comes in the next to what it has to: once %s',
      async (moment, { dbPath }) => {
        await killedAt(scenario, await Lives.of(scenario, dbPath, durable), moment);
      },
    );
  },
);

/** Kills a process some time after some of its writes; false where it ended before. */
async function killAfter({ child, finished }: TsProcess, writes: number, ms: number): Promise<boolean> {
  let told = 0;
  child.stdout?.on('data', (chunk: Buffer) => (told += chunk.length));
  while (child.exitCode === null && told < writes) await sleep(1);
  await sleep(ms);
  child.kill('SIGKILL');
  return (await finished).signal === 'SIGKILL';
}

/** Any number of writes that a process of a scenario makes, and any time until the next. */
const [MOST_WRITES, MOST_MS] = [100, 8];

/** One run to its end through kills, no more than `most`; how many there were. */
async function killedOnTheWay(scenario: Scenario, lives: Lives, run: string, most: number): Promise<number> {
  const moments: string[] = [];
  let told: unknown;
  for (;;) {
    const process = lives.apart(run, { told, tells: true });
    told = undefined;
    const [writes, ms] = [randomInt(MOST_WRITES), randomInt(MOST_MS + 1)];
    if (moments.length < most && (await killAfter(process, writes, ms))) {
      moments.push(`${ms} ms after write ${writes}`);
      continue;
    }
    const { stdout, stderr, code } = await process.finished;
    expect([moments, code, stderr]).toEqual([moments, 0, '']);
    const ended = JSON.parse(stdout.slice(stdout.indexOf('\n'))) as {
      readonly outcome?: unknown;
      readonly told?: unknown;
    };
    if (ended.told === undefined) {
      const left = await lives.left(run, ended.outcome);
      expect([moments, left]).toEqual([moments, await leftAfter(scenario, run, null)]);
      return moments.length;
    }
    told = ended.told;
  }
}

describe.each(named(({ deaths }) => deaths.byTheClock !== undefined))(
  '%s, in processes that are killed at any time',
  (_what, scenario) => {
    test('comes to what it comes to without a death', {
      timeout: longer(120_000, KILLS),
    }, async ({ dbPath, task }) => {
      const lives = await Lives.of(scenario, dbPath, durable);
      const wanted = (scenario.deaths.byTheClock ?? 0) * KILLS;
      let kills = 0;
      for (let run = 1; kills < wanted; run += 1) {
        kills += await killedOnTheWay(scenario, lives, `run-${run}`, wanted - kills);
        tried(task, { ways: kills });
      }
    });
  },
);
