import { isDeepStrictEqual } from 'node:util';
import type { RunnableConfig } from '@langchain/core/runnables';
import type { CheckpointQuery } from '../../state/checkpoints/checkpointRecords.ts';
import { namespaceOf, optionalId } from './checkpointConfig.ts';

/** Finds where a checkpoint id stands in the order. */
type FindSeq = (checkpointId: string, threadId: string | null) => number | null;

/**
 * Which rows `list` walks.
 *
 * @throws TypeError if an id is no text, or if there is no thread and not all threads may be listed.
 */
export function listQuery(
  config: RunnableConfig,
  before: RunnableConfig | undefined,
  { allThreads, findSeq }: { readonly allThreads: boolean; readonly findSeq: FindSeq },
): CheckpointQuery {
  const threadId = optionalId(config, 'thread_id');
  if (threadId === null && !allThreads) throw new TypeError('configurable.thread_id is missing');
  const beforeId = before === undefined ? null : optionalId(before, 'checkpoint_id');
  const beforeThread = before === undefined ? null : optionalId(before, 'thread_id');
  const beforeSeq = beforeId === null ? null : findSeq(beforeId, beforeThread ?? threadId);
  return {
    threadId,
    checkpointNs: namespaceOf(config),
    checkpointId: optionalId(config, 'checkpoint_id'),
    beforeSeq,
    beforeId: beforeSeq === null ? beforeId : null,
  };
}

/** Metadata is matched by its own properties only: a filter must not reach a prototype. */
export function matchesMetadata(metadata: object, filter: Record<string, unknown> = {}): boolean {
  const own = new Map<string, unknown>(Object.entries(metadata));
  return Object.entries(filter).every(([name, value]) => own.has(name) && isSameJson(own.get(name), value));
}

/** By content, as the JSON of both: keys in any order, and one whose value is `undefined` is none. */
function isSameJson(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(found) && Array.isArray(wanted)) {
    return found.length === wanted.length && [...found].every((item, at) => isSameJson(item, wanted[at]));
  }
  if (!isComparableObject(found) || !isComparableObject(wanted))
    return found === wanted || isDeepStrictEqual(found, wanted);
  const [left, right] = [definedIn(found), definedIn(wanted)];
  return left.size === right.size && [...left].every(([key, value]) => isSameJson(value, right.get(key)));
}

function isComparableObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function definedIn(value: object): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(value).filter(([, each]) => each !== undefined));
}

/** @throws RangeError if the limit is not a whole number of at least 0. */
export function validLimit(limit: number | undefined): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  if (!Number.isSafeInteger(limit) || limit < 0) {
    throw new RangeError(`limit: ${String(limit)} is not a whole number of at least 0`);
  }
  return limit;
}
