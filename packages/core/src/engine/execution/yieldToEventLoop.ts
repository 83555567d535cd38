import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work after which timers, sockets and other runs of this process get their turn. */
const SLICE_MS = 20;

/** The same where nodes of one super-step, or steps in them, begin: they are to begin together unless they are many. */
const SUPER_STEP_SLICE_MS = 100;

/** More nodes than that are in hand in many runs, or are a super-step that is long anyway. */
const FEW_NODES = 10;

// Over all runs of the process: its event loop is one.
let turnedAt = performance.now();
let turning: Promise<void> | null = null;
let nodesInHand = 0;

/** A node is in hand, until the returned function is called. */
export function holdNode(): () => void {
  nodesInHand += 1;
  return () => {
    nodesInHand -= 1;
  };
}

/** Milliseconds that may pass before a node, or a step, begins. */
export const nodeSliceMs = (): number => (nodesInHand > FEW_NODES ? SLICE_MS : SUPER_STEP_SLICE_MS);

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
