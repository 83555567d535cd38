// Conditions on the labels and ids of runs, as SQL.

import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';

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
export interface LabelCounts {
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
