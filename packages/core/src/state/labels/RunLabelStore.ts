// The labels that find a run: the scalars of its metadata and its owner, its tags, their rows, and conditions on them as SQL.

import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { withinTransaction } from '../commits/immediateTransaction.ts';

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
const inheritedLabels = (parent: RunLabels, own: RunLabels): RunLabels => ({
  metadata: { ...parent.metadata, ...own.metadata },
  tags: [...new Set([...parent.tags, ...own.tags])].sort(),
  ...((parent.owner ?? own.owner) && { owner: { ...parent.owner, ...own.owner } }),
});

/** Selects runs by labels and id. */
export interface LabelQuery {
  /** As `labelTexts` writes them: all of them. */
  readonly labels: readonly string[];
  /** The beginning of the id; empty for any. */
  readonly idPrefix: string;
}

/** Any run. */
export const UNLABELLED: LabelQuery = { labels: [], idPrefix: '' };

/** How many runs each condition is true of, up to {@link COUNTED}; a prefix that is empty counts as that many. */
interface LabelCounts {
  readonly labels: readonly number[];
  readonly prefix: number;
}

/** Rows that are counted to find the rarest of several conditions. */
export const COUNTED = 1000;

const COUNT_LABEL = `SELECT count(*) FROM (SELECT 1 FROM run_labels WHERE label = ? LIMIT ${COUNTED})`;

const COUNT_PREFIX = `
  SELECT count(*) FROM (SELECT 1 FROM threads WHERE thread_id >= @idPrefix AND thread_id < @idEnd LIMIT ${COUNTED})`;

/** Above every character of an id. */
const LAST_CHARACTER = '\u{10ffff}';

export const isUnlabelled = ({ labels, idPrefix }: LabelQuery): boolean =>
  labels.length === 0 && idPrefix === '';

/**
 * Conditions on a row with `thread_id` and `created_at`, each followed by AND.
 *
 * @param run - Its name in the statement.
 * @param skipped - A label to leave out, by its number.
 */
export function labelConditions(run: string, { labels, idPrefix }: LabelQuery, skipped = -1): string {
  const conditions = labels.map(
    (_, at) => `EXISTS (
      SELECT 1 FROM run_labels AS l
      WHERE l.label = @label${at} AND l.created_at = ${run}.created_at AND l.thread_id = ${run}.thread_id)`,
  );
  const ofLabels = conditions.filter((_, at) => at !== skipped);
  const ofId = idPrefix === '' ? [] : [`${run}.thread_id >= @idPrefix AND ${run}.thread_id < @idEnd`];
  return [...ofId, ...ofLabels].map((condition) => `${condition} AND `).join('');
}

/** Values for {@link labelConditions}. */
export const labelValues = ({ labels, idPrefix }: LabelQuery): Readonly<Record<string, string>> => ({
  idPrefix,
  idEnd: `${idPrefix}${LAST_CHARACTER}`,
  ...Object.fromEntries(labels.map((label, at) => [`label${at}`, label])),
});

export function labelCounts(db: Database, query: LabelQuery): LabelCounts {
  const count = prepare<[string], number>(db, COUNT_LABEL).pluck();
  const inRange = prepare<[object], number>(db, COUNT_PREFIX).pluck();
  return {
    labels: query.labels.map((label) => count.get(label) ?? 0),
    prefix: query.idPrefix === '' ? COUNTED : (inRange.get(labelValues(query)) ?? 0),
  };
}

/** The condition that the fewest runs meet: a label by its number, the beginning of the id, or `null` if all are common. */
export function rarest({ labels, prefix }: LabelCounts): number | 'prefix' | null {
  const least = Math.min(...labels);
  if (Math.min(least, prefix) >= COUNTED) return null;
  return prefix < least ? 'prefix' : labels.indexOf(least);
}

const SELECT = 'SELECT label FROM run_labels WHERE thread_id = ? ORDER BY label';

const INSERT = `
  INSERT INTO run_labels (label, created_at, thread_id)
  SELECT @label, created_at, thread_id FROM threads WHERE thread_id = @threadId
  ON CONFLICT DO NOTHING`;

const DELETE = 'DELETE FROM run_labels WHERE thread_id = ?';

/** Rows of `run_labels`: the labels that find runs. */
export class RunLabelStore {
  readonly #db: Database;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#db = db;
  }

  of(threadId: string): RunLabels {
    return labelsFrom(prepare<[string], string>(this.#db, SELECT).pluck().all(threadId));
  }

  /** In the transaction that records the run. */
  insert(threadId: string, labels: RunLabels): void {
    for (const label of labelTexts(labels)) prepare<[object]>(this.#db, INSERT).run({ label, threadId });
  }

  /** Puts members of the metadata in the place of those of the same names. */
  patch(threadId: string, metadata: RunLabels['metadata']): RunLabels {
    return withinTransaction(this.#db, () => {
      const labels = patchedLabels(this.of(threadId), metadata);
      prepare<[string]>(this.#db, DELETE).run(threadId);
      this.insert(threadId, labels);
      return labels;
    });
  }

  /** Gives a child or a fork the labels of the run it comes from; its own go first. */
  inherit(from: string, to: string): void {
    const labels = inheritedLabels(this.of(from), this.of(to));
    prepare<[string]>(this.#db, DELETE).run(to);
    this.insert(to, labels);
  }
}
