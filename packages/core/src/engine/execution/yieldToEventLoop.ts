import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work after which timers, sockets and other runs of this process get their turn. */
const SLICE_MS = 20;

/** The same where nodes of one super-step, or steps in them, begin: they are to begin together unless they are many. */
export const SUPER_STEP_SLICE_MS = 100;

let turnedAt = performance.now();
let turning: Promise<void> | null = null;

/** Whether the event loop is owed a turn. What answers at once never leaves the queue of microtasks by itself. */
export const shouldYield = (sliceMs = SLICE_MS): boolean => performance.now() - turnedAt >= sliceMs;

/**
 * Lets the event loop turn once: `while (shouldYield()) await yieldToEventLoop();`. Asked for before each `await`, because one that is
 * not needed changes in what order nodes side by side go on, and again after it, because who waited first may have worked
 * since. Those that wait go on in the order in which they came.
 */
export function yieldToEventLoop(): Promise<void> {
  turning ??= nextTurn();
  return turning;
}

async function nextTurn(): Promise<void> {
  await setImmediate();
  turnedAt = performance.now();
  turning = null;
}
