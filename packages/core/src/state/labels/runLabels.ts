// The labels that find a run: the scalars of its metadata, and its tags.

/** A value that metadata can be searched for. */
export type LabelValue = string | number | boolean | null;

/** The metadata and the tags of a run. */
export interface RunLabels {
  /** Scalars by name, without lists and objects. */
  readonly metadata: Readonly<Record<string, LabelValue>>;
  /** In the order of their characters, each once. */
  readonly tags: readonly string[];
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
}: {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly tags?: readonly string[];
}): RunLabels {
  const scalars = Object.entries(metadata).filter(([, value]) => isLabelValue(value));
  return {
    metadata: Object.fromEntries(scalars) as RunLabels['metadata'],
    tags: [...new Set(tags)].sort(),
  };
}

/** As they are stored: JSON, `[tag]` or `[name, value]`. */
export const labelTexts = ({ metadata, tags }: RunLabels): readonly string[] => [
  ...Object.entries(metadata).map((member) => JSON.stringify(member)),
  ...tags.map((each) => JSON.stringify([each])),
];

/** The labels that were stored as these texts. */
export function labelsFrom(texts: readonly string[]): RunLabels {
  const labels = texts.map((text) => JSON.parse(text) as readonly [string, LabelValue?]);
  const members = labels.flatMap(([name, ...value]) =>
    value.length === 0 ? [] : [[name, value[0] ?? null] as const],
  );
  return {
    metadata: Object.fromEntries(members),
    tags: labels.flatMap(([name, ...value]) => (value.length === 0 ? [name] : [])).sort(),
  };
}

/** The labels of a child run: its own, and those of its parent. */
export const inheritedLabels = (parent: RunLabels, own: RunLabels): RunLabels => ({
  metadata: { ...parent.metadata, ...own.metadata },
  tags: [...new Set([...parent.tags, ...own.tags])].sort(),
});
