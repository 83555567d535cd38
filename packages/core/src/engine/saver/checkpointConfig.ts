// The parts of LangGraph's `configurable`, and of the options of `list`, that a checkpointer reads and returns.

import { isDeepStrictEqual } from 'node:util';
import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  CheckpointKey,
  CheckpointQuery,
  NamespaceKey,
} from '../../state/checkpoints/checkpointRecords.ts';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import { isWellFormed } from '../../values/isWellFormed.ts';

/** Format of checkpoints from which values are kept by channel version and sends are a channel. */
export const VERSIONED_FORMAT = 4;

/** Only these three: an old lease epoch in a returned config would override the one LangGraph was called with. */
export function configOf({ threadId, checkpointNs, checkpointId }: CheckpointKey): RunnableConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId } };
}

/** The thread, which must be named, and the namespace, which is the root's otherwise. */
export function requiredNamespace(config: RunnableConfig): NamespaceKey {
  return { threadId: requiredId(config, 'thread_id'), checkpointNs: namespaceOf(config) ?? '' };
}

/** @throws TypeError if the id is missing or not a text. */
export function requiredId(config: RunnableConfig, name: string): string {
  const id = optionalId(config, name);
  if (id === null) throw new TypeError(`configurable.${name} is missing`);
  return id;
}

/** @throws TypeError if the id is there but not a text: it would match nothing, or be taken for none. */
export function optionalId(config: RunnableConfig, name: string): string | null {
  const id: unknown = config.configurable?.[name];
  if (id === undefined || (id === '' && name === 'checkpoint_id')) return null;
  if (typeof id !== 'string' || id === '')
    throw new TypeError(`configurable.${name}: expected a string that is not empty`);
  return assertWellFormed(id, name);
}

/** `null` when the config names none. */
export function namespaceOf(config: RunnableConfig): string | null {
  const checkpointNs: unknown = config.configurable?.['checkpoint_ns'];
  if (checkpointNs === undefined) return null;
  if (typeof checkpointNs !== 'string') throw new TypeError('configurable.checkpoint_ns: expected a string');
  return assertWellFormed(checkpointNs, 'checkpoint_ns');
}

/** Half a character becomes U+FFFD in the file, where two different ids would then be the same. */
function assertWellFormed(id: string, name: string): string {
  if (isWellFormed(id)) return id;
  throw new TypeError(`configurable.${name}: the string has a lone surrogate`);
}

/** The lease a driven run writes under; `null` in plain LangGraph use. */
export function leaseOf(config: RunnableConfig): FencedLease | null {
  const epoch: unknown = config.configurable?.['lease_epoch'];
  if (epoch === undefined) return null;
  if (!Number.isSafeInteger(epoch))
    throw new TypeError(`configurable.lease_epoch: ${String(epoch)} is not a whole number`);
  // The lease of the root thread also covers the threads of child frames, which have no row of their own.
  const threadId = optionalId(config, 'lease_thread_id') ?? requiredId(config, 'thread_id');
  return { threadId, epoch: epoch as number };
}

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
