import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work after which timers, sockets and other runs of this process get their turn. */
const SLICE_MS = 20;

let turnedAt = performance.now();
let turning: Promise<void> | null = null;

/** Whether the event loop is owed a turn. What answers at once never leaves the queue of microtasks by itself. */
export const isLoopDue = (): boolean => performance.now() - turnedAt >= SLICE_MS;

/**
 * Lets the event loop turn until it is no longer due. Ask {@link isLoopDue} first: an `await` that is not needed changes
 * in what order nodes side by side go on. Those that wait go on in the order in which they came, a slice each.
 */
export async function loopTurn(): Promise<void> {
  while (isLoopDue()) {
    turning ??= nextTurn();
    await turning;
  }
}

async function nextTurn(): Promise<void> {
  await setImmediate();
  turnedAt = performance.now();
  turning = null;
}
