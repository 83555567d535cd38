import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';
import { durable } from '../support/runs/durable.ts';
import { notThroughRuns, ofOneFile } from '../support/runs/where.ts';
import { tried } from '../support/tried.ts';
import { Lives, leftAfter, mayBeBetween, placesIn } from './scenarios/Lives.ts';
import type { Scenario, Side } from './scenarios/Scenario.ts';
import { inModes } from './scenarios/scenarios.ts';

/** Multiplies the deaths of each scenario, up to one at each write. */
const DEATHS = howMany('DEVS_LIFE_DEATHS', 1);

const BOTH: readonly Side[] = ['before', 'after'];

/** The writes at which processes die, and on which side of each. */
function deathsIn(total: number, scenario: Scenario) {
  const { atWrites = 0, sides = BOTH } = scenario.deaths;
  const writes = placesIn(total, atWrites === 'every' ? total : atWrites * DEATHS, scenario);
  return writes.flatMap((write) => sides.map((side) => ({ write, side })));
}

type At = ReturnType<typeof deathsIn>[number];

/** A place for a death that was too late; empty where that is tried already. */
function earlierThan({ write, side }: At, tried: readonly At[]): readonly At[] {
  const earlier = Math.floor(write / 2);
  const isTried = tried.some((place) => place.write === earlier && place.side === side);
  return earlier === 0 || isTried ? [] : [{ write: earlier, side }];
}

const whereOf = ({ throughRuns }: Scenario) =>
  throughRuns === true ? ofOneFile('dies at a write') : notThroughRuns('asks another method');

describe.each(inModes(({ deaths }) => deaths.atWrites !== undefined, DEATHS > 1))(
  '%s, %s, in processes that die at any write',
  (_what, durability, scenario) => {
    test('comes to what it comes to without a death', {
      ...whereOf(scenario),
      timeout: longer(300_000, DEATHS / 10),
    }, async ({ dbPath, task }) => {
      const lives = await Lives.of(scenario, dbPath, durable, durability);
      const heir = lives.heir();
      const whole = await heir.live('whole');
      expect(await lives.left('whole', whole?.outcome)).toEqual(await leftAfter(scenario, 'whole', null));

      const places = deathsIn(whole?.writes ?? 0, scenario);
      const wanted = places.length;
      let deaths = 0;
      const seen: unknown[] = [];
      for (const place of places) {
        const run = `${place.side}-${place.write}`;
        // Of two runs, the loop turns at other moments: one has some commits less than the one that was counted.
        if ((await lives.here(run, place)) === null) deaths += 1;
        else places.push(...earlierThan(place, places));
        tried(task, { ways: deaths });
        lives.release(run);
        if (scenario.between !== undefined) {
          seen.push(await lives.between(run));
          expect([place, await mayBeBetween(scenario, place)]).toEqual([
            place,
            expect.arrayContaining(seen.slice(-1)),
          ]);
        }
        const ended = await heir.live(run);
        expect([place, await lives.left(run, ended?.outcome)]).toEqual([
          place,
          await leftAfter(scenario, run, place),
        ]);
      }
      expect(deaths).toBeGreaterThan(wanted / 2);
      if (scenario.between !== undefined)
        expect(seen).toContainEqual((await mayBeBetween(scenario, null))[0]);
      if (scenario.afterwards !== undefined && heir.process !== undefined)
        expect(await scenario.afterwards.does(heir.process, 'whole')).toEqual(scenario.afterwards.expected);
      heir.close();
    });
  },
);
