import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { count, type Entry, type Repeats, repeatedCalls } from './counting.ts';
import type { Scenario, Stand } from './Stand.ts';

/** What the world outside has on its account when the dust has settled. */
export type Accident = Scenario<readonly Entry[]>;

/** Around one paid call; `world.mjs` and the stacks' flows die there. */
export type Point = 'in the call' | 'before its record' | 'after its record';

/** Long enough for a second publication, or a wrongly answered gate, to show. */
const SETTLE_MS = 1500;

/** Dies at a point around one paid call, and is started again. */
export const killedAt =
  (dieAt: Point): Accident =>
  async (stand) => {
    await stand.expectEnd(stand.client('work', 'post', { dieAt, life: 1 }), 'SIGKILL');
    stand.client('work', 'post', { life: 2 });
    await stand.waitFor('asked');
    return stand.entries();
  };

/** Dies in a paid call, and is started again twice at once; a call takes long enough for both to be in it. */
export const startedTwice: Accident = async (stand) => {
  await stand.expectEnd(stand.client('work', 'post', { dieAt: 'in the call', life: 1 }), 'SIGKILL');
  for (const life of [2, 3]) stand.client('work', 'post', { life, callMs: 3000 });
  await stand.waitFor('worker loaded', 3);
  await stand.waitFor('asked');
  await sleep(SETTLE_MS);
  return stand.entries();
};

export const twoAtOnce: Accident = async (stand) => {
  stand.client('work', 'post');
  await stand.waitFor('asked');
  const both = [stand.client('approve at once', 'post'), stand.client('approve at once', 'post')];
  while (readdirSync(stand.folder).filter((name) => name.startsWith('ready-')).length < 2) await sleep(5);
  writeFileSync(join(stand.folder, 'go'), '');
  for (const one of both) await stand.expectEnd(one, 0);
  await stand.waitFor('published');
  await sleep(SETTLE_MS);
  return stand.entries();
};

export const oneClickTwice: Accident = async (stand) => {
  stand.client('work', 'post');
  await stand.waitFor('asked');
  await stand.expectEnd(stand.client('approve twice', 'post'), 0);
  await sleep(SETTLE_MS);
  return stand.entries();
};

export const staleApproval =
  (bound: boolean): Accident =>
  async (stand) => {
    stand.client('work', 'review', { bound });
    await stand.waitFor('asked');
    await stand.expectEnd(stand.client('approve stale', 'review', { bound }), 0);
    await sleep(SETTLE_MS);
    return stand.entries();
  };

/** More than that, and some stacks give a run up. */
const MOST_KILLS_PER_RUN = 4;

/**
 * Kills the worker of runs of ten paid calls at random moments of its life, `kills` times in all.
 *
 * @param random Numbers in [0, 1).
 */
export const randomKills =
  (kills: number, random: () => number): Scenario<Repeats> =>
  async (stand) => {
    await live(stand, { run: 'first', life: 1 });
    const { lastedMs } = await live(stand, { run: 'timed', life: 1 });
    const found: Repeats[] = [];
    const done = (): number => found.flatMap(({ perKill }) => perKill).length;
    while (done() < kills) {
      const before = stand.entries().length;
      const most = Math.min(kills - done(), MOST_KILLS_PER_RUN);
      await mortalRun(stand, `chain-${found.length}`, { most, killAfterMs: () => random() * lastedMs });
      found.push(repeatedCalls(stand.entries().slice(before)));
    }
    const recordedAgain = found.reduce((sum, each) => sum + each.recordedAgain, 0);
    return { perKill: found.flatMap(({ perKill }) => perKill), recordedAgain };
  };

interface Mortality {
  readonly most: number;
  readonly killAfterMs: () => number;
}

async function mortalRun(stand: Stand, run: string, { most, killAfterMs }: Mortality): Promise<void> {
  for (let kills = 0; ; kills += 1) {
    const isMortal = kills < most;
    const { wasKilled } = await live(stand, { run, life: kills + 1, ...(isMortal && { killAfterMs }) });
    if (!wasKilled) return;
  }
}

interface Life {
  readonly run: string;
  readonly life: number;
  readonly killAfterMs?: () => number;
}

interface Lived {
  readonly wasKilled: boolean;
  /** From when the process had loaded its stack. */
  readonly lastedMs: number;
}

/** One process that works on a chain of calls. */
async function live(stand: Stand, { run, life, killAfterMs }: Life): Promise<Lived> {
  const loaded = count(stand.entries(), 'worker loaded');
  const worker = stand.client('work', 'chain', { run, life });
  await stand.waitFor('worker loaded', loaded + 1);
  const begun = Date.now();
  const kill = (): boolean => worker.child.kill('SIGKILL');
  const timer = killAfterMs && setTimeout(kill, killAfterMs());
  const end = await worker.ended;
  clearTimeout(timer);
  if (end !== 0 && end !== 'SIGKILL') {
    throw new Error(`A worker ended with ${end}: ${stand.entries().at(-1)?.what}.`);
  }
  return { wasKilled: end === 'SIGKILL', lastedMs: Date.now() - begun };
}
