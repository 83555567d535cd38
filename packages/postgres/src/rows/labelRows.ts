import { createHash } from 'node:crypto';
import type { Runs } from '@devs/core';
import { pages } from '@devs/core/internal';

type Labels = Parameters<typeof pages.labelTexts>[0];

/** JSON for `runs.labels`. */
export const labelsJson = (labels: Labels): string => JSON.stringify(pages.labelTexts(labels));

/** Labels of a row; empty for a run of an older release until its file is read. */
export const labelsOfRow = (json: string | null): Labels =>
  pages.labelsFrom(JSON.parse(json ?? '[]') as readonly string[]);

const labelSql = (text: string): string => `sha256(convert_to(${text}, 'UTF8'))`;

/** A part of a `WITH`: the labels of the runs in `held (run_id, created_at, is_labelled)` become rows. @param json - A parameter. */
export const insertLabelsSql = (schema: string, json: string): string => `labelled AS (
  INSERT INTO ${schema}.run_labels (label, created_at, run_id)
  SELECT ${labelSql('text')}, h.created_at, h.run_id
  FROM held h, json_array_elements_text(${json}::json) AS text WHERE NOT h.is_labelled
  ON CONFLICT DO NOTHING
)`;

/** Replaces the labels of a run, `$1`, with those of JSON `$2`. The row is locked by {@link lockLabelsSql} before. */
export const replaceLabelsSql = (schema: string): string => `
WITH held AS (
  UPDATE ${schema}.runs SET labels = $2, relabelled = true WHERE run_id = $1
  RETURNING run_id, created_at, false AS is_labelled
), gone AS (
  DELETE FROM ${schema}.run_labels WHERE run_id = $1
    AND label NOT IN (SELECT ${labelSql('text')} FROM json_array_elements_text($2::json) AS text)
), ${insertLabelsSql(schema, '$2')}
SELECT run_id FROM held`;

export const lockLabelsSql = (schema: string): string =>
  `SELECT labels FROM ${schema}.runs WHERE run_id = $1 FOR UPDATE`;

/**
 * Conditions on a row with `run_id` and `tenant`, each behind an AND; their values are added to `values`.
 *
 * @param page - Of the order of `run_labels`. It applies if one label is the only condition: then only the runs of a page are read.
 */
export function labelConditions(
  schema: string,
  filter: NonNullable<Parameters<Runs['gates']>[0]>,
  values: unknown[],
  page = '',
): string {
  const { labels, idPrefix } = pages.labelQuery(filter);
  const bound = (value: string): string => `$${values.push(value)}::text`;
  const isAlone = labels.length === 1 && idPrefix === '' && filter.tenant === undefined;
  // A value, not an expression: the planner knows how many runs have a label of which many do.
  const conditions = labels.map((label) => {
    const digest = values.push(createHash('sha256').update(label).digest());
    return `run_id IN (SELECT run_id FROM ${schema}.run_labels WHERE label = $${digest}::bytea${isAlone ? page : ''})`;
  });
  if (idPrefix !== '')
    conditions.push(`run_id >= ${bound(idPrefix)} AND run_id < ${bound(`${idPrefix}\u{10ffff}`)}`);
  if (filter.tenant !== undefined) conditions.push(`tenant = ${bound(filter.tenant)}`);
  return conditions.map((condition) => ` AND ${condition}`).join('');
}
