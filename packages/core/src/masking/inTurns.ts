import { setImmediate } from 'node:timers/promises';

/** Work that can be interrupted at every yield. */
export type Work<Result> = Generator<void, Result>;

/** Longest work between two turns of the event loop that is asked for, ms; one piece may take longer. */
const STRETCH_MS = 4;

/** Does the work, and lets the event loop turn meanwhile. */
export async function inTurns<Result>(work: Work<Result>): Promise<Result> {
  let since = performance.now();
  for (let piece = work.next(); ; piece = work.next()) {
    if (piece.done === true) return piece.value;
    if (performance.now() - since < STRETCH_MS) continue;
    await setImmediate();
    since = performance.now();
  }
}

/** Does the work without a turn of the loop. */
export function runToEnd<Result>(work: Work<Result>): Result {
  for (let piece = work.next(); ; piece = work.next()) if (piece.done === true) return piece.value;
}
