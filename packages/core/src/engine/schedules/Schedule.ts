import { Cron } from 'croner';
import { DevsError } from '../../errors/DevsError.ts';
import type { ScheduleRow, StoredTimes } from '../../state/schedules/ScheduleStore.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import type { StartOptions } from '../file/RunOptions.ts';
import { interruptGate } from '../gates/engineGates.ts';

/** When a schedule fires: `cron` or `every`. */
export interface ScheduleTimes {
  /** Five fields: minute, hour, day of the month, month, day of the week. Or a name such as `@daily`. */
  readonly cron?: string;
  /** Milliseconds from one firing to the next, counted from the call; at least 1,000. */
  readonly every?: number;
  /** For `cron`, such as `Europe/Berlin`. @defaultValue 'UTC' */
  readonly timeZone?: string;
  /**
   * The fate of a firing while the run of the last one goes on: it is left out, waits for that end, or starts. @defaultValue 'skip'
   */
  readonly overlap?: 'skip' | 'wait' | 'allow';
  /** Makes each firing a turn of this run, in place of a run of its own. */
  readonly thread?: string;
  /** Latest possible firing. */
  readonly until?: Date;
}

/** Options of the runs. */
export type ScheduledOptions = Omit<StartOptions, 'turn' | 'multitaskStrategy'>;

export type ScheduleOptions = ScheduleTimes & ScheduledOptions;

/** A schedule with its last and its next firing. */
export interface ScheduleInfo {
  readonly id: string;
  /** Name of the app that starts its runs; empty for an unnamed one. */
  readonly graph: string;
  readonly times: ScheduleTimes;
  readonly input: unknown;
  readonly options: ScheduledOptions;
  readonly createdAt: Date;
  /** `null` after the last firing. */
  readonly nextAt: Date | null;
  readonly lastAt: Date | null;
  /** Id of the run that the last firing started. */
  readonly lastRun: string | null;
  /** Reason of a last firing without a run. */
  readonly error: string | null;
}

const FEWEST_MS = 1_000;
const MOST_BYTES = 1024 * 1024;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const OVERLAPS = ['skip', 'wait', 'allow'] as const;

/** Times as they are stored. @throws TypeError, RangeError for times that cannot be kept. */
export function storedTimes(times: ScheduleTimes): StoredTimes {
  const { until, ...rest } = times;
  assertFirings(times);
  assertPlace(times);
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), ...(until !== undefined && { until: until.getTime() }) };
}

function assertFirings({ cron, every, timeZone }: ScheduleTimes): void {
  if ((cron === undefined) === (every === undefined))
    throw new TypeError('Expected exactly one of `cron` and `every`.');
  if (cron !== undefined) cronOf(cron, timeZone);
  if (every !== undefined) {
    if (!Number.isSafeInteger(every) || every < FEWEST_MS)
      throw new RangeError(`every: expected whole milliseconds from ${FEWEST_MS}, got ${every}`);
    if (timeZone !== undefined) throw new TypeError('timeZone: only with `cron`.');
  }
}

function assertPlace({ overlap, thread, until }: ScheduleTimes): void {
  if (overlap !== undefined && !OVERLAPS.includes(overlap))
    throw new TypeError(`overlap: expected ${OVERLAPS.join(', ')}, got ${String(overlap)}.`);
  if (thread !== undefined && (typeof thread !== 'string' || thread === ''))
    throw new TypeError('thread: expected the id of a run.');
  if (until !== undefined && !(until instanceof Date && Number.isFinite(until.getTime())))
    throw new TypeError('until: expected a valid Date.');
}

/** @throws RangeError for an expression or a time zone that there is not, and for one without firings. */
function cronOf(cron: string, timeZone = 'UTC'): Cron {
  try {
    return new Cron(cron, { timezone: timeZone, mode: '5-part' });
  } catch (error) {
    throw new RangeError(`cron: ${(error as Error).message}`);
  }
}

/** The first firing after a time; `null` after the last one. Times are in milliseconds since the Unix epoch. */
export function firingAfter(
  at: number,
  { cron, every = 0, timeZone, until = Number.POSITIVE_INFINITY }: StoredTimes,
  createdAt: number,
): number | null {
  const next =
    cron === undefined
      ? createdAt + (Math.floor(Math.max(0, at - createdAt) / every) + 1) * every
      : (cronOf(cron, timeZone).nextRun(new Date(at))?.getTime() ?? Number.POSITIVE_INFINITY);
  return next <= until && Number.isFinite(next) ? next : null;
}

/** @throws RangeError, TypeError for an id that cannot be part of the id of a run. */
export function assertScheduleId(id: string): void {
  if (typeof id !== 'string' || !ID.test(id))
    throw new RangeError(
      'id: expected up to 100 of A-Z, a-z, 0-9, ., _ and -, with a letter or a digit first.',
    );
}

/** Input and options as they are stored. @throws DevsError `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE` */
export function storedGiven(id: string, input: unknown, options: ScheduledOptions): ScheduleRow['given'] {
  const given = { input, options: options as Readonly<Record<string, unknown>> };
  const { error } = interruptGate.given().safeParse({ value: given });
  if (error !== undefined)
    throw new DevsError(
      `The input of schedule "${id}" cannot be stored. ${error.issues[0]?.message ?? ''}.`,
      {
        code: 'VALUE_NOT_STORABLE',
        remedy: 'Give plain JSON. For messages use { role, content }.',
        context: { id },
      },
    );
  const bytes = Buffer.byteLength(canonicalJson(given));
  if (bytes > MOST_BYTES)
    throw new DevsError(`The input of schedule "${id}" is ${bytes} bytes; the limit is ${MOST_BYTES}.`, {
      code: 'VALUE_TOO_LARGE',
      remedy: 'Store large content elsewhere and give a reference to it.',
      context: { id, bytes },
    });
  return given;
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

export function scheduleInfo({ id, graph, times, given, ...row }: ScheduleRow): ScheduleInfo {
  const { until, ...kept } = times;
  return {
    ...{ id, graph, input: given.input, options: given.options as ScheduledOptions },
    times: { ...kept, ...(until !== undefined && { until: new Date(until) }) },
    createdAt: new Date(row.createdAt),
    ...{ nextAt: dateOf(row.nextAt), lastAt: dateOf(row.lastAt) },
    ...{ lastRun: row.lastRun, error: row.error },
  };
}
