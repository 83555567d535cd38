import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDevsError, type StageAgents } from '@devs/core';
import { aCall, edits } from './callTrials.ts';
import { breaking, flooding, lying, NO, silent, undecided } from './faultyModels.ts';
import type { Place } from './Place.ts';
import { processesOf } from './processesOf.ts';
import { BEFORE, FILE, SUMMARY, sumTask } from './sumTask.ts';
import { expectEqual } from './Trial.ts';
import type { Model } from './Turn.ts';

/** Bytes this process may grow by while a CLI floods it. */
const MOST_MEMORY = 400 * 1024 * 1024;

/** The model says it is done: nothing is, and nothing is taken for work. */
export async function liesTrial(place: Place, agents: StageAgents): Promise<string> {
  const { summary, files } = await withModel(place, lying, () => implement(place, agents));
  expectEqual('the file', readFileSync(join(place.project, FILE), 'utf8'), BEFORE);
  expectEqual('the files handed in', files.length, 0);
  // Some add a notice of their own.
  if (!summary.startsWith(SUMMARY)) throw new Error(`It said ${JSON.stringify(summary)}.`);
  return 'the folder is as it was';
}

/** Of two verdicts the last one counts. */
export async function twoAnswersTrial(place: Place, agents: StageAgents): Promise<string> {
  const verdict = await withModel(place, undecided, () =>
    agents.review(sumTask(place.project), aCall().call),
  );
  expectEqual('the verdict', JSON.stringify(verdict), JSON.stringify(NO));
  return 'the last one counts';
}

/** However it ends, it ends, in bounded memory. */
export async function floodTrial(place: Place, agents: StageAgents): Promise<string> {
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  const end = await withModel(place, flooding, () => endOf(implement(place, agents)));
  clearInterval(watch);
  const grown = Math.round((most - before) / 1024 / 1024);
  if (most - before > MOST_MEMORY) throw new Error(`This process grew by ${grown} MiB.`);
  return `${grown} MiB more here; ${end}`;
}

/** Ctrl-C while the model is silent: it ends, and leaves no process behind. */
export async function hangTrial(place: Place, agents: StageAgents): Promise<string> {
  const stop = new AbortController();
  const before = place.server.turns.length;
  return withModel(place, silent, async () => {
    const work = endOf(implement(place, agents, stop.signal));
    while (place.server.turns.length === before) await sleep(50);
    const started = performance.now();
    stop.abort(new Error('Ctrl-C'));
    expectEqual('its end', await work, 'Ctrl-C');
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    await agents.close?.();
    expectEqual('the processes left', processesOf(place.base).join('; '), '');
    return `over ${seconds} s after Ctrl-C, no process is left`;
  });
}

/** The connection breaks whenever it is asked: a failure in words, however often the CLI tries. */
export async function breakTrial(place: Place, agents: StageAgents): Promise<string> {
  const before = place.server.turns.length;
  const end = await withModel(place, breaking, () => endOf(implement(place, agents)));
  await agents.close?.();
  expectEqual('the processes left', processesOf(place.base).join('; '), '');
  expectEqual('the file', readFileSync(join(place.project, FILE), 'utf8'), BEFORE);
  return `after ${place.server.turns.length - before} requests: ${end}`;
}

/** After all of that the same agents work. */
export const recoversTrial = edits;

function implement(place: Place, agents: StageAgents, signal?: AbortSignal) {
  writeFileSync(join(place.project, FILE), BEFORE);
  return agents.implement(sumTask(place.project), aCall(signal).call);
}

/** What became of a stage, in a line; anything but an answer or an error of ours is a fault of ours. */
async function endOf(work: Promise<unknown>): Promise<string> {
  try {
    const answer = JSON.stringify(await work);
    return `answered with ${answer.length} characters: ${answer.slice(0, 160)}`;
  } catch (error) {
    const { message } = error as Error;
    if (
      isDevsError(error, 'AGENT_FAILED') ||
      isDevsError(error, 'AGENT_INVALID_OUTPUT') ||
      message === 'Ctrl-C'
    )
      return message.split('\n').join(' ').slice(0, 160);
    throw error;
  }
}

async function withModel<Result>(
  { server }: Place,
  model: Model,
  work: () => Promise<Result>,
): Promise<Result> {
  const usual = server.model;
  server.model = model;
  try {
    return await work();
  } finally {
    server.model = usual;
  }
}
