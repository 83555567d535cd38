import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work after which timers, sockets and other runs of this process get their turn. */
const SLICE_MS = 20;

/** The same where nodes of one super-step, or steps in them, begin: they are to begin together unless they are many. */
const SUPER_STEP_SLICE_MS = 100;

/** More nodes than that are a super-step that is long anyway. */
const FEW_NODES = 10;

// Over all runs of the process: its event loop is one.
let turnedAt = performance.now();
let isTurning = false;
/** First come, first served: one that works on and on must not pass the others. */
const waiting: (() => void)[] = [];
/** By run. */
const nodesInHand = new Map<string, number>();

/** A node of a run is in hand, until the returned function is called. */
export function holdNode(run: string): () => void {
  const count = (by: number): void => {
    const nodes = (nodesInHand.get(run) ?? 0) + by;
    if (nodes > 0) nodesInHand.set(run, nodes);
    else nodesInHand.delete(run);
  };
  count(1);
  return () => count(-1);
}

/** Milliseconds that may pass before a node of a run, or a step in one, begins. */
export function nodeSliceMs(run: string): number {
  const own = nodesInHand.get(run) ?? 0;
  const isAlone = nodesInHand.size === (own > 0 ? 1 : 0);
  return isAlone && own <= FEW_NODES ? SUPER_STEP_SLICE_MS : SLICE_MS;
}

/** Whether the event loop is owed a turn. What answers at once never leaves the queue of microtasks by itself. */
export const shouldYield = (sliceMs = SLICE_MS): boolean => performance.now() - turnedAt >= sliceMs;

/**
 * Lets the event loop turn: `while (shouldYield()) await yieldToEventLoop();`. Asked for before each `await`, because one that is
 * not needed changes in what order nodes side by side go on.
 *
 * Those that wait go on in the order in which they came, each in a callback of its own: it works up to its next wait before the next
 * one checks the time. Else all would pass the check together, and work far beyond it.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((goOn) => {
    waiting.push(goOn);
    void releaseNext();
  });
}

/** One for each that waits. */
async function releaseNext(): Promise<void> {
  do {
    if (!isTurning) void nextTurn(); // its callback comes first
    await setImmediate();
  } while (shouldYield());
  waiting.shift()?.();
}

async function nextTurn(): Promise<void> {
  isTurning = true;
  await setImmediate();
  turnedAt = performance.now();
  isTurning = false;
}
