// Faults of PostgreSQL: which pass with time, how long to wait for them, and the remedies of the others.

import { setTimeout as sleep } from 'node:timers/promises';
import { DevsError, isDevsError } from '@devs/core';

/**
 * Classes and codes of PostgreSQL that mean: later. Connections, a read-only server (a standby, a full disk), an idle client, a
 * conflict, a deadlock, resources, a lock timeout, an operator's intervention.
 */
const LATER = /^(?:08(?!P01)|25006|25P03|40001|40P01|53|55P03|57014|57P)/; // 08P01 is a mistake in what was asked
/** PgBouncer's own errors have 08P01, without a function of PostgreSQL. These of them do not pass with time. */
const POOLERS_REFUSALS =
  /no such (?:database|user)|unsupported startup parameter|not allowed|authentication|password/i;
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

/** Whether PostgreSQL cannot be used now: the statement may have happened or not. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  if (saysLater(error) || (typeof code === 'string' && SOCKET.has(code))) return true;
  // A host with several addresses has an error for each.
  if (error instanceof AggregateError) return error.errors.some(isAway);
  return ENDED.test(error.message);
}

/** Whether a server, or the pooler before it, answers that this passes: it starts, ends, is full, or read-only. */
export function saysLater(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, routine } = error as { readonly code?: unknown; readonly routine?: unknown };
  if (code === '08P01') return routine === undefined && !POOLERS_REFUSALS.test(error.message);
  return typeof code === 'string' && LATER.test(code);
}

/** Made here, and about the server alone: a run is not the cause. */
const OF_SERVER = new WeakSet<Error>();

function ofServer(fault: DevsError): DevsError {
  OF_SERVER.add(fault);
  return fault;
}

/** Whether PostgreSQL is away or unusable: this counts for a run as if it had not been tried. */
export const isServerFault = (error: unknown): boolean =>
  error instanceof Error && (OF_SERVER.has(error) || isAway(error) || isServerFault(error.cause));

const POOLED = 'there is a pooler in transaction mode before it';
const POOLED_REMEDY =
  'Set `directUrl` of `postgres()` to the address of the server itself, or the pooler to session mode. The pooler can stay in `url`.';

/** Transactions of one connection were in several sessions of the server, or one session had those of several. */
export const pooledFault = (): DevsError =>
  ofServer(
    new DevsError(`PostgreSQL cannot be used: ${POOLED}.`, {
      code: 'CONFIG_INVALID',
      remedy: POOLED_REMEDY,
      context: { option: 'directUrl' },
    }),
  );

/** What PostgreSQL says when it is as it should not be: by its codes. */
const FAULTS: readonly (readonly [codes: RegExp, what: string, remedy: string])[] = [
  // A statement that a connection has named is unknown to it, or to be named again: it is another session of the server.
  [/^(?:26000|42P05)$/, POOLED, POOLED_REMEDY],
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

/** PostgreSQL refuses text with NUL. Names come here with it; other texts lose it before. */
const NOT_STORABLE = '22021';

/** What `pg` throws, as a fault of the engine; others are left as they are. */
export function pgFault(error: unknown): unknown {
  if (isDevsError(error)) return error;
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return error;
  if (code === NOT_STORABLE) return new RangeError('id: expected a string without NUL', { cause: error });
  const known = FAULTS.find(([codes]) => codes.test(code));
  const [, what, remedy] = known ?? [code, `error ${code}`, 'Check the log of the server.'];
  const fault = new DevsError(`PostgreSQL cannot be used: ${what}. ${String(message)}`, {
    code: known === undefined ? 'STATE_IO' : 'CONFIG_INVALID',
    remedy,
    context: { postgres: code, ...(what === POOLED && { option: 'directUrl' }) },
    cause: error,
  });
  return known === undefined ? fault : ofServer(fault);
}

/** The same where a run is driven: its node would take a fault of the configuration for its own. */
export function driveFault(error: unknown): unknown {
  const fault = pgFault(error);
  if (!isDevsError(fault, 'CONFIG_INVALID')) return fault;
  const { message, remedy, context } = fault;
  return ofServer(new DevsError(message, { code: 'STATE_IO', remedy, context, cause: fault }));
}

/** For the first connection: nobody knows yet that there is a server at all. */
export function notReached(error: unknown, where: string): DevsError {
  const [what, remedy] = saysLater(error)
    ? [
        `PostgreSQL at ${where} ${isStarting(error) ? 'does not accept connections yet' : 'cannot be used now'}: ${(error as Error).message}.`,
        'Try again when it is ready, or check its log.',
      ]
    : [
        `PostgreSQL cannot be reached at ${where}.`,
        'Check host and port in the URL, and that the server runs and accepts connections.',
      ];
  const context = { server: where };
  return ofServer(new DevsError(what, { code: 'STATE_IO', remedy, context, cause: error }));
}

const isStarting = (error: unknown): boolean => Reflect.get(Object(error), 'code') === '57P03';

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
    throw isAway(error) ? unreachable(error, 'Try again when PostgreSQL is reachable.') : error;
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

/** It has stayed away. @param remedy - The first sentence of it. */
export function unreachable(cause: unknown, remedy: string): DevsError {
  const what = saysLater(cause) ? `cannot be used now: ${(cause as Error).message}` : 'cannot be reached';
  return ofServer(
    new DevsError(`PostgreSQL ${what}.`, {
      code: 'STATE_IO',
      remedy: `${remedy} Unconfirmed changes do not count as done.`,
      cause,
    }),
  );
}
