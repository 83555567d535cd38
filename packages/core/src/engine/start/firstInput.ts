// A run that was recorded before its first input, and that input.

import { isDeepStrictEqual } from 'node:util';
import { DevsError } from '../../errors/DevsError.ts';
import { isLabelValue, type LabelValue, labelsOf, type RunLabels } from '../../state/labels/RunLabelStore.ts';
import { awaitsInput, type NewThread, type Thread } from '../../state/threads/threadRecords.ts';
import { isRecord } from '../../values/isRecord.ts';
import { threadBusy } from '../drive/lease.ts';
import { storable } from '../gates/answerForms.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { InvokeOptions } from '../graph/EngineGraph.ts';

/** The labels of a run that is recorded before its first input. */
export interface NewRunLabels {
  /** Plain JSON by name, at most 64 KiB. */
  readonly metadata?: RunLabels['metadata'];
  readonly tags?: readonly string[];
  /** The owner of the run: strings, finite numbers, booleans and `null`, by name. `updateMetadata` cannot change it. */
  readonly owner?: RunLabels['owner'];
}

interface GivenFirst {
  readonly input: unknown;
  readonly options: InvokeOptions;
}

/** Bytes of UTF-8 that the metadata of a run may have as JSON. */
const MAX_METADATA_BYTES = 64 * 1024;

/** @throws TypeError for metadata other than plain JSON, tags other than strings, an owner other than scalars; RangeError for too much. */
export function assertLabels({ metadata = {}, tags = [], owner = {} }: NewRunLabels): void {
  assertMetadata(metadata);
  if (!isRecord(owner)) throw new TypeError('owner must be an object.');
  for (const [name, value] of Object.entries(owner)) {
    if (!isLabelValue(value))
      throw new TypeError(`owner.${name} must be a string, a finite number, a boolean or null.`);
  }
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string'))
    throw new TypeError('tags must be a list of strings.');
}

/** @throws TypeError for metadata other than plain JSON; RangeError if it is too large. */
export function assertMetadata(metadata: unknown): asserts metadata is Readonly<Record<string, LabelValue>> {
  if (!isRecord(metadata)) throw new TypeError('metadata must be an object.');
  for (const [name, value] of Object.entries(metadata)) {
    if (!isPlainJson(value)) throw new TypeError(`metadata.${name} must be plain JSON.`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > MAX_METADATA_BYTES)
    throw new RangeError(`metadata must have at most ${MAX_METADATA_BYTES} bytes as JSON, got ${bytes}.`);
}

const isPlainJson = (value: unknown): boolean => isLabelValue(value) || storable().safeParse(value).success;

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
