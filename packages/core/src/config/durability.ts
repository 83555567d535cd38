/**
 * How far a run may be ahead of the disk. `async`, the default: at most 20 ms of work, while nodes let the event loop turn. `sync`: a
 * super-step is on disk before the next begins, as is the input of a node before it works. In both, a recorded call, its
 * result, a question, an answer and an end are on disk before anybody is asked, shown or sent them.
 */
export type Durability = 'sync' | 'async';

const KNOWN: Readonly<Record<Durability, true>> = { sync: true, async: true };

/** @param what - The method in the message. @throws RangeError with the reason. */
export function assertDurability(what: string, given: unknown): asserts given is Durability | undefined {
  if (given === undefined || Object.hasOwn(KNOWN, String(given))) return;
  const because =
    given === 'exit'
      ? '"exit" writes nothing before a run ends, so a crash would lose its paid calls and its questions.'
      : `got ${String(given)}.`;
  throw new RangeError(`${what}: durability must be "sync" or "async"; ${because}`);
}
