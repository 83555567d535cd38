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

/** Between two tries, ms: doubled up to the last. */
const FIRST_GAP_MS = 50;
const LAST_GAP_MS = 2000;

/**
 * Does `work` until PostgreSQL has answered. What it asks may then have happened already: it finds that out itself.
 *
 * @throws DevsError `STATE_IO` if PostgreSQL stays away; what `work` throws else.
 */
export async function insist<Result>(
  work: () => Promise<Result>,
  { awayMs, onAway }: Patience,
): Promise<Result> {
  const until = performance.now() + awayMs;
  let wasAway = false;
  for (let gapMs = FIRST_GAP_MS; ; gapMs = Math.min(2 * gapMs, LAST_GAP_MS)) {
    try {
      const result = await work();
      if (wasAway) onAway(null);
      return result;
    } catch (error) {
      if (!isAway(error)) throw error;
      if (!wasAway) onAway(error);
      wasAway = true;
      if (performance.now() + gapMs > until) throw stayedAway(error);
      await sleep(gapMs);
    }
  }
}

function stayedAway(cause: unknown): DevsError {
  return new DevsError('PostgreSQL cannot be reached.', {
    code: 'STATE_IO',
    remedy: 'Nothing that was not there is taken for done; try again when PostgreSQL is back.',
    cause,
  });
}
