import { setTimeout as sleep } from 'node:timers/promises';
import { DevsError } from '@devs/core';
import { isAway } from './isAway.ts';

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
