// Faults of PostgreSQL: which pass with time, how long to wait for them, and the remedies of the others.

import { setTimeout as sleep } from 'node:timers/promises';
import { DevsError, isDevsError } from '@devs/core';

/** Classes and codes of PostgreSQL that say: later. Connections, resources, an operator's intervention, a deadlock, a client that stood still. */
const LATER = /^(?:08(?!P01)|25P03|53|57P|40001|40P01)/; // 08P01 is a mistake in what was asked
/** Of Node.js. */
const SOCKET: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // Of a socket that is a file.
  'ENOENT',
  'EACCES',
]);
/** `pg` has no codes for a connection that ends under a query, or that is not made in time. */
const ENDED =
  /Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error/;

/** Whether an error says that PostgreSQL cannot be reached now: what was asked may have happened or not. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  if (typeof code === 'string' && (SOCKET.has(code) || LATER.test(code))) return true;
  // A host with several addresses has an error for each.
  if (error instanceof AggregateError) return error.errors.some(isAway);
  return ENDED.test(error.message);
}

/** Whether an error says that a server is there, and takes no connections yet: it starts, recovers or ends. */
export const isStarting = (error: unknown): boolean =>
  error instanceof Error && (error as { readonly code?: unknown }).code === '57P03';

/** What PostgreSQL says when it is as it should not be: by its codes. */
const FAULTS: readonly (readonly [codes: RegExp, what: string, remedy: string])[] = [
  [
    /^28/,
    'PostgreSQL rejects this user',
    'Correct the user and password in the URL, or pg_hba.conf on the server.',
  ],
  [/^3D000$/, 'the database does not exist', 'Correct its name in the URL, or create the database.'],
  [/^42501$/, 'a privilege is missing', 'Have the owner of the tables run the SQL that `rightsSql` returns.'],
  [
    /^(?:3F000|42P01|42703|42883)$/,
    'the tables are missing, or belong to another release',
    'Create them with a role that is allowed to, or keep `migrate` on.',
  ],
];

/** What `pg` throws, as a fault of the engine; others are left as they are. */
export function pgFault(error: unknown): unknown {
  if (isDevsError(error)) return error;
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return error;
  const known = FAULTS.find(([codes]) => codes.test(code));
  const [, what, remedy] = known ?? [code, `error ${code}`, 'Check the log of the server.'];
  return new DevsError(`PostgreSQL cannot be used: ${what}. ${String(message)}`, {
    code: known === undefined ? 'STATE_IO' : 'CONFIG_INVALID',
    remedy,
    context: { postgres: code },
    cause: error,
  });
}

/** For the first connection: nobody knows yet that there is a server at all. */
export function notReached(error: unknown, where: string): DevsError {
  const [what, remedy] = isStarting(error)
    ? [
        `PostgreSQL at ${where} does not accept connections yet: ${(error as Error).message}.`,
        'Try again when it has started, or check its log.',
      ]
    : [
        `PostgreSQL cannot be reached at ${where}.`,
        'Check host and port in the URL, and that the server runs and accepts connections.',
      ];
  return new DevsError(what, {
    code: 'STATE_IO',
    remedy,
    context: { server: where },
    cause: error,
  });
}

/** How long PostgreSQL is waited for, and who is told. */
export interface Patience {
  /** How long it may be away before what needs it fails, ms. */
  readonly awayMs: number;
  /** Told that it cannot be reached, with why; and with `null` that it can be again. */
  readonly onAway: (why: unknown) => void;
}

/** What is waited for, and how long. */
export interface AwayWait extends Patience {
  /** Whether an error passes by itself. */
  readonly passes: (error: unknown) => boolean;
  /** Ends it before its time: what it waits for rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Between two tries, ms: doubled up to the last. */
const FIRST_GAP_MS = 50;
const LAST_GAP_MS = 2000;

/**
 * Does `work` until PostgreSQL has answered. What it asks may then have happened already: it finds that out itself.
 *
 * @throws DevsError `STATE_IO` if PostgreSQL stays away; what `work` throws else.
 */
export async function retryWhileAway<Result>(
  work: () => Promise<Result>,
  patience: Patience,
): Promise<Result> {
  try {
    return await waitUntilBack(work, { ...patience, passes: isAway });
  } catch (error) {
    throw isAway(error) ? unreachable(error) : error;
  }
}

/** Does `work` until its error does not pass by itself, or has not passed in time. @throws What `work` throws then. */
export async function waitUntilBack<Result>(
  work: () => Promise<Result>,
  { awayMs, onAway, passes, signal }: AwayWait,
): Promise<Result> {
  const until = performance.now() + awayMs;
  let wasAway = false;
  for (let gapMs = FIRST_GAP_MS; ; gapMs = Math.min(2 * gapMs, LAST_GAP_MS)) {
    try {
      const result = await work();
      if (wasAway) onAway(null);
      return result;
    } catch (error) {
      if (!passes(error)) throw error;
      if (!wasAway) onAway(error);
      wasAway = true;
      if (performance.now() + gapMs > until) throw error;
    }
    signal?.throwIfAborted();
    await sleep(gapMs, undefined, { signal });
  }
}

function unreachable(cause: unknown): DevsError {
  return new DevsError('PostgreSQL cannot be reached.', {
    code: 'STATE_IO',
    remedy: 'Try again when PostgreSQL is reachable. Unconfirmed changes do not count as done.',
    cause,
  });
}
