// A run that was recorded before its first input, and that input.

import { isDeepStrictEqual } from 'node:util';
import { DevsError } from '../../errors/DevsError.ts';
import { labelsOf } from '../../state/labels/RunLabelStore.ts';
import { awaitsInput, type NewThread, type Thread } from '../../state/threads/threadRecords.ts';
import { threadBusy } from '../drive/lease.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { InvokeOptions } from '../graph/EngineGraph.ts';

interface GivenFirst {
  readonly input: unknown;
  readonly options: InvokeOptions;
}

/**
 * The first input of a run that was recorded before it, with the metadata and tags it was recorded with.
 *
 * @throws DevsError `INVALID_INPUT` without an input; `INPUT_NOT_TAKEN` for other metadata or tags.
 */
export function firstGiven<Given extends GivenFirst>(
  known: Thread | null,
  given: Given,
  { labels }: Pick<EngineStore, 'labels'>,
): Given {
  if (known === null) return given;
  const { threadId } = known;
  if (given.input === undefined) throw noInput(threadId);
  const recorded = labels.of(threadId);
  const { metadata, tags } = given.options;
  const members = { ...recorded.metadata, ...metadata };
  const kept = {
    ...(Object.keys(members).length > 0 && { metadata: members }),
    ...(recorded.tags.length > 0 && { tags: recorded.tags }),
  };
  if (Object.entries(recorded.metadata).some(([name, value]) => !isDeepStrictEqual(members[name], value)))
    throw givenOtherwise(threadId, 'metadata');
  if (tags !== undefined && kept.tags !== undefined && !isDeepStrictEqual(labelsOf({ tags }).tags, kept.tags))
    throw givenOtherwise(threadId, 'tags');
  return { ...given, options: { ...given.options, ...kept } };
}

/**
 * Records a run, or puts one that waits for its first input at its beginning, in the caller's transaction: `created` is true
 * for both. The graph and its declarations are those of the input.
 *
 * @throws DevsError `THREAD_BUSY` while a process ends it.
 */
export function createOrBegin(
  declared: NewThread,
  { threads }: Pick<EngineStore, 'threads'>,
): { readonly thread: Thread; readonly created: boolean } {
  const { thread, created } = threads.create(declared);
  if (created || !awaitsInput(thread)) return { thread, created };
  const { threadId, policies, graphFingerprint } = declared;
  const claim = threads.claim(threadId);
  if (claim.kind === 'busy') throw threadBusy(threadId, claim.owner, claim.epoch);
  try {
    threads.updatePolicies(threadId, policies);
    threads.setFingerprint(threadId, graphFingerprint);
    threads.beginTurn(claim.lease);
  } finally {
    threads.release(claim.lease);
  }
  return { thread: threads.require(threadId), created: true };
}

/** @throws DevsError `INPUT_NOT_TAKEN` for a run that ended before it had an input. */
export function assertHadInput(threadId: string, { inputs }: Pick<EngineStore, 'inputs'>): void {
  if (inputs.latest(threadId) !== null) return;
  throw new DevsError(`Run "${threadId}" ended before its first input.`, {
    code: 'INPUT_NOT_TAKEN',
    remedy: 'Start a new run with this input, or send it with a turn key.',
    context: { threadId },
  });
}

const noInput = (threadId: string): DevsError =>
  new DevsError(`Run "${threadId}" has no input yet.`, {
    code: 'INVALID_INPUT',
    remedy: 'Start it with its first input.',
    context: { threadId },
  });

const givenOtherwise = (threadId: string, what: string): DevsError =>
  new DevsError(`Run "${threadId}" was created with different ${what}.`, {
    code: 'INPUT_NOT_TAKEN',
    remedy: `Leave ${what} out, or repeat what the run was created with.`,
    context: { threadId },
  });
