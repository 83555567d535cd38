// The labels that find a run: the scalars of its metadata, and its tags.

import { canonicalJson } from '../../values/canonicalJson.ts';

/** A value that metadata can be searched for. */
export type LabelValue =
  | string
  | number
  | boolean
  | null
  | readonly LabelValue[]
  | { readonly [name: string]: LabelValue };

/** The metadata and the tags of a run. */
export interface RunLabels {
  /** By name. Of the metadata of an input the scalars only, without lists and objects. */
  readonly metadata: Readonly<Record<string, LabelValue>>;
  /** In the order of their characters, each once. */
  readonly tags: readonly string[];
  /** The owner of the run, by name; absent without one. Only the program that starts the run writes it. */
  readonly owner?: Readonly<Record<string, string | number | boolean | null>>;
}

export const NO_LABELS: RunLabels = { metadata: {}, tags: [] };

/** Whether metadata can be searched for this value. */
export const isLabelValue = (value: unknown): value is LabelValue =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value));

/** The labels among the options of a run. */
export function labelsOf({
  metadata = {},
  tags = [],
  owner,
}: {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly tags?: readonly string[];
  readonly owner?: RunLabels['owner'];
}): RunLabels {
  const scalars = Object.entries(metadata).filter(([, value]) => isLabelValue(value));
  return {
    metadata: Object.fromEntries(scalars) as RunLabels['metadata'],
    tags: [...new Set(tags)].sort(),
    ...(owner !== undefined && { owner }),
  };
}

/** Marks a label as one of the owner. */
const OF_OWNER = 'owner';

/** As they are stored: JSON, `[tag]`, `[name, value]`, or `[name, value, 'owner']`. */
export const labelTexts = ({ metadata, tags, owner = {} }: RunLabels): readonly string[] => [
  ...Object.entries(metadata).map(memberText),
  ...tags.map((each) => JSON.stringify([each])),
  ...Object.entries(owner).map((member) => JSON.stringify([...member, OF_OWNER])),
];

/** Equal values have equal texts. */
const memberText = (member: readonly [string, LabelValue]): string =>
  isLabelValue(member[1]) ? JSON.stringify(member) : canonicalJson(member);

/** Other members of the metadata in the place of those of the same names. */
export const patchedLabels = (labels: RunLabels, patch: RunLabels['metadata']): RunLabels => ({
  ...labels,
  metadata: Object.fromEntries([...Object.entries(labels.metadata), ...Object.entries(patch)]),
});

/** The labels that were stored as these texts. */
export function labelsFrom(texts: readonly string[]): RunLabels {
  const labels = texts.map((text) => JSON.parse(text) as readonly [string, LabelValue?, string?]);
  const membersOf = (length: number) =>
    labels.filter((label) => label.length === length).map(([name, value = null]) => [name, value] as const);
  const owner = Object.fromEntries(membersOf(3)) as NonNullable<RunLabels['owner']>;
  return {
    metadata: Object.fromEntries(membersOf(2)),
    tags: labels.flatMap(({ length, 0: name }) => (length === 1 ? [name] : [])).sort(),
    ...(Object.keys(owner).length > 0 && { owner }),
  };
}

/** The labels of a child run: its own, and those of its parent. */
export const inheritedLabels = (parent: RunLabels, own: RunLabels): RunLabels => ({
  metadata: { ...parent.metadata, ...own.metadata },
  tags: [...new Set([...parent.tags, ...own.tags])].sort(),
  ...((parent.owner ?? own.owner) && { owner: { ...parent.owner, ...own.owner } }),
});
