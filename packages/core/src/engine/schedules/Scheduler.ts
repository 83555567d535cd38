import { isDeepStrictEqual } from 'node:util';
import { LOOK_EVERY_MS } from '../../db/FileWatch.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { News } from '../../events/News.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { ScheduleRow, ScheduleRows } from '../../state/schedules/ScheduleStore.ts';
import { awaitsInput, hasEnded } from '../../state/threads/threadRecords.ts';
import type { RunInfo } from '../drive/RunResult.ts';
import type { StartOptions } from '../file/RunOptions.ts';
import {
  assertScheduleId,
  firingAfter,
  type ScheduledOptions,
  type ScheduleInfo,
  type ScheduleTimes,
  scheduleInfo,
  storedGiven,
  storedTimes,
} from './Schedule.ts';

/** The parts of an app that a scheduler uses. */
export interface SchedulerParts {
  readonly rows: ScheduleRows;
  /** Name of the app. */
  readonly graph: string;
  start(id: string, input: unknown, options: StartOptions): Promise<void>;
  get(id: string): Promise<RunInfo | null>;
}

interface Given {
  readonly times: ScheduleTimes;
  readonly options: ScheduledOptions;
  readonly input: unknown;
}

/** Looks for due schedules at least so often, ms. */
const LOOK_MS = 2 * LOOK_EVERY_MS;

/** Records a schedule. An equal one stays as it is, with its next firing. */
export async function putSchedule(
  id: string,
  { times, options, input }: Given,
  { rows, graph }: SchedulerParts,
): Promise<ScheduleInfo> {
  assertScheduleId(id);
  if (input === undefined) throw new TypeError('input: each run needs one.');
  const stored = { times: storedTimes(times), given: storedGiven(id, input, options) };
  const known = await rows.get(id);
  if (known !== null && known.graph !== graph) throw ofAnotherApp(id, known.graph);
  if (known !== null && isDeepStrictEqual({ times: known.times, given: known.given }, stored))
    return scheduleInfo(known);
  const createdAt = await rows.now();
  const nextAt = firingAfter(createdAt, stored.times, createdAt);
  if (nextAt === null) throw new RangeError('The schedule would never fire.');
  await rows.put({ id, graph, ...stored, createdAt, nextAt });
  return scheduleInfo((await rows.get(id)) as ScheduleRow);
}

const ofAnotherApp = (id: string, graph: string): DevsError =>
  new DevsError(`Schedule "${id}" belongs to the app "${graph}".`, {
    code: 'INPUT_NOT_TAKEN',
    remedy: 'Use another id, or remove that schedule first.',
    context: { id, graph },
  });

/** Starts runs as their schedules fire, until `signal` is aborted. Any number of processes may do so. */
export async function fireUntilStopped(signal: AbortSignal, parts: SchedulerParts): Promise<void> {
  const clock = new News();
  while (!signal.aborted) {
    await fireDue(parts);
    await clock.next(LOOK_MS, signal);
  }
}

/** Fires due schedules. */
export async function fireDue(parts: SchedulerParts): Promise<void> {
  const { rows, graph } = parts;
  for (const schedule of await rows.due(graph)) await fire(schedule, parts);
}

/**
 * First the firing is taken, in one statement. Then its run is started under an id that belongs to the firing alone. A process that
 * finds it taken starts the same run: the first process may be dead.
 */
async function fire(schedule: ScheduleRow, parts: SchedulerParts): Promise<void> {
  const { rows } = parts;
  const { id, times, nextAt, createdAt } = schedule;
  if (schedule.firingAt !== null) return startRun(schedule, schedule.firingAt, parts);
  if (nextAt === null) return;
  const { overlap = 'skip' } = times;
  const isOpen = overlap !== 'allow' && (await isLastRunOpen(schedule, parts));
  if (isOpen && overlap === 'wait') return;
  // Missed firings come once: the next one is after now, wherever the clock has been.
  const to = firingAfter(Math.max(await rows.now(), nextAt), times, createdAt);
  const isOurs = await rows.advance(id, { from: nextAt, to, fires: !isOpen });
  if (isOurs && !isOpen) await startRun(schedule, nextAt, parts);
}

async function isLastRunOpen({ times, lastRun }: ScheduleRow, { get }: SchedulerParts): Promise<boolean> {
  const id = times.thread ?? lastRun;
  const run = id === null ? null : await get(id);
  return run !== null && !hasEnded(run.status) && !awaitsInput(run);
}

async function startRun(schedule: ScheduleRow, at: number, { rows, start }: SchedulerParts): Promise<void> {
  const { id, times, given } = schedule;
  const name = `${id}@${new Date(at).toISOString().replace('.000Z', 'Z')}`;
  const { thread } = times;
  const options: StartOptions = {
    ...given.options,
    ...(thread !== undefined && { turn: name, multitaskStrategy: 'enqueue' }),
  };
  try {
    await start(thread ?? name, given.input, options);
  } catch (error) {
    if (!isLasting(error)) throw error;
    const told = maskSensitiveData(error.message);
    return rows.fired(id, { firingAt: at, run: null, error: told });
  }
  return rows.fired(id, { firingAt: at, run: thread ?? name, error: null });
}

/** Whether the next try would fail as well. */
const isLasting = (error: unknown): error is Error =>
  isDevsError(error)
    ? !/^(?:STATE_|THREAD_BUSY$|LEASE_LOST$)/.test(error.code)
    : error instanceof TypeError || error instanceof RangeError;
