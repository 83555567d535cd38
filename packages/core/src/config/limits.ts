import { constants } from 'node:buffer';
import { DevsError, type ErrorCode } from '../errors/DevsError.ts';

// How large what is recorded may be. Checked when it is written, never when it is read: what was recorded under other limits
// stays readable.

/** Sizes of stored values, in bytes of JSON. Checked on write only, so older values stay readable. */
export interface Limits {
  /**
   * Bytes of one write: a node's write to a channel, the input of a run, a turn or a child, the content of a gate, a
   * store item. @defaultValue 8 MiB
   */
  readonly valueBytes: number;
  /** Bytes of one channel, such as all messages of a chat. @defaultValue 64 MiB */
  readonly channelBytes: number;
  /** Bytes of all channels of a checkpoint together. @defaultValue 128 MiB */
  readonly checkpointBytes: number;
  /** Bytes of the result of a `step`. @defaultValue 64 MiB */
  readonly stepBytes: number;
  /** Bytes of the value or edit that answers a gate; in the pipeline, of each text of an edit. @defaultValue 1 MiB */
  readonly answerBytes: number;
  /** Bytes of the payload of a signal. @defaultValue 1 MiB */
  readonly signalBytes: number;
  /** Bytes of one argument of `config.writer`. @defaultValue 1 MiB */
  readonly chunkBytes: number;
  /** Levels of arrays and objects in a value; only the default serializer counts them. @defaultValue 200 */
  readonly depth: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: Limits = {
  valueBytes: 8 * MIB,
  channelBytes: 64 * MIB,
  checkpointBytes: 128 * MIB,
  stepBytes: 64 * MIB,
  answerBytes: MIB,
  signalBytes: MIB,
  chunkBytes: MIB,
  depth: 200,
};

/** Bytes that SQLite takes in one value (`SQLITE_MAX_LENGTH`), PostgreSQL in somewhat more, and the longest text of Node.js. */
export const MOST_BYTES = Math.min(1_000_000_000, constants.MAX_STRING_LENGTH);

/** Levels that a walk can go down on Node's stack, with room for who calls it. */
const MOST_LEVELS = 1_000;

/** The most that a limit may be: a checkpoint is many values, all else is one. */
export const MAX_LIMITS: Limits = {
  valueBytes: MOST_BYTES,
  channelBytes: MOST_BYTES,
  checkpointBytes: Number.MAX_SAFE_INTEGER,
  stepBytes: MOST_BYTES,
  answerBytes: MOST_BYTES,
  signalBytes: MOST_BYTES,
  chunkBytes: MOST_BYTES,
  depth: MOST_LEVELS,
};

export type LimitName = keyof Limits;

/** @throws RangeError naming the limit that is no whole number from 1 to the most it may be, or that there is not. */
export function validLimits(given: Partial<Limits> = {}): Limits {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(MAX_LIMITS, name)) throw new RangeError(`limits.${name}: unknown limit`);
    const most = MAX_LIMITS[name as LimitName];
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1 && value <= most)) {
      throw new RangeError(`limits.${name}: expected a whole number from 1 to ${most}, got ${String(value)}`);
    }
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_LIMITS, ...(Object.fromEntries(set) as Partial<Limits>) };
}

/** What is too large. */
export interface Oversize {
  /** The subject of a sentence: `Channel "messages"`. */
  readonly what: string;
  readonly limit: LimitName;
  readonly bytes: number;
  /** Where the most of it is: `messages[3].content`. */
  readonly path?: string | undefined;
  /** @defaultValue `DEFAULT_LIMITS` */
  readonly limits?: Limits | undefined;
  /** @defaultValue 'VALUE_TOO_LARGE' */
  readonly code?: ErrorCode;
  readonly context?: Readonly<Record<string, string | number>>;
}

/** The error of a limit that is passed, with how to raise it. */
export function tooLarge({
  what,
  limit,
  bytes,
  path,
  limits = DEFAULT_LIMITS,
  code = 'VALUE_TOO_LARGE',
  context,
}: Oversize): DevsError {
  const most = limits[limit];
  const place = path === undefined ? '' : `, most of it at ${path}`;
  return new DevsError(`${what} is ${bytes} bytes${place}; the limit is ${most} bytes.`, {
    code,
    remedy: `Store large content elsewhere and keep a reference to it here, or ${formatLimitRemedy(limit, bytes)}.`,
    context: {
      ...context,
      bytes,
      limit: most,
      option: `limits.${limit}`,
      ...(path !== undefined && { path }),
    },
  });
}

function formatLimitRemedy(limit: LimitName, bytes: number): string {
  if (bytes > MAX_LIMITS[limit]) return `split it: \`limits.${limit}\` cannot exceed ${MAX_LIMITS[limit]}`;
  return `raise \`limits.${limit}\`, for example \`limits: { ${limit}: ${roundedUp(bytes)} }\``;
}

/** A whole MiB, so that the next value that is a little larger passes, too. */
const roundedUp = (bytes: number): number => Math.min(Math.ceil(bytes / MIB) * MIB, MOST_BYTES);
