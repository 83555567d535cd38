// The metadata, the tags and the owner that a run is given: their form, and how much of it.

import { isLabelValue, type LabelValue, type RunLabels } from '../../state/labels/RunLabelStore.ts';
import { isRecord } from '../../values/isRecord.ts';
import { storable } from '../gates/answerForms.ts';

/** The labels of a run that is recorded before its first input. */
export interface NewRunLabels {
  /** Plain JSON by name, at most 64 KiB. */
  readonly metadata?: RunLabels['metadata'];
  readonly tags?: readonly string[];
  /** The owner of the run: strings, finite numbers, booleans and `null`, by name. `updateMetadata` cannot change it. */
  readonly owner?: RunLabels['owner'];
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
