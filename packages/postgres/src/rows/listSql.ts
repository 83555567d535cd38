// SQL of a page of runs: each condition has an index that knows the order of the page.

import { ENDED_STATUSES, hasEnded, type runQueryOf } from '@devs/core/internal';
import { isLiveSql } from '../server/Owner.ts';

type RunQuery = ReturnType<typeof runQueryOf>;
type Status = RunQuery['statuses'][number];

/** A held run is running, with each stored status. */
const TAKEN = `('created', 'waiting', 'paused')`;
const STATUS = `CASE WHEN owner IS NOT NULL AND status IN ${TAKEN} THEN 'running' ELSE status END`;

const OPEN_STATUSES: readonly Status[] = ['created', 'running', 'waiting', 'paused'];
const ALL = OPEN_STATUSES.length + ENDED_STATUSES.length;

/** Disjoint parts of the due runs, as in a local file. */
const DUE: readonly string[] = [
  'owner IS NOT NULL',
  `owner IS NULL AND ended_at IS NULL AND (status IN ('created', 'running') OR wake_seq > handled_seq)
   AND (status IN ('created', 'running') OR reason IS DISTINCT FROM 'no input yet')`,
  `owner IS NULL AND ended_at IS NULL AND status = 'paused' AND reason = 'asked to stop' AND wake_seq <= handled_seq`,
];

type StatusQuery = Pick<RunQuery, 'statuses' | 'due'>;

/** Whether runs of each status are asked for. */
export const hasEachStatus = ({ statuses, due }: StatusQuery): boolean => !due && statuses.length === ALL;

/** Disjoint parts of the runs with these statuses. */
function partsOf(statuses: readonly Status[]): readonly string[] {
  if (statuses.length === ALL) return ['true'];
  const parts = statuses.map((status) => {
    if (hasEnded(status)) return `status = '${status}' AND ended_at IS NOT NULL`;
    const isFree = status === 'running' ? '' : ' AND owner IS NULL';
    return `status = '${status}' AND ended_at IS NULL${isFree}`;
  });
  return statuses.includes('running') ? [...parts, `owner IS NOT NULL AND status IN ${TAKEN}`] : parts;
}

const rowsSql = (schema: string): string => `
SELECT run_id, ${STATUS} AS status, reason, fingerprint, created_at, updated_at, ended_at, labels,
  owner IS NOT NULL AND ${isLiveSql(schema)} AS is_driven, (${DUE.map((part) => `(${part})`).join(' OR ')}) IS TRUE AS is_due
FROM ${schema}.runs`;

export const getSql = (schema: string): string => `${rowsSql(schema)} WHERE run_id = $1`;

export const ORDER = 'ORDER BY created_at DESC, run_id DESC';

/**
 * A page, newest first. Of several statuses each has an ordered page of its own, so that the others are not read.
 *
 * @param limit - Name of its parameter.
 * @param conditions - On a row of `runs`, each behind an AND.
 */
export function listSql(
  schema: string,
  { statuses, due }: StatusQuery,
  { conditions, limit }: { readonly conditions: string; readonly limit: string },
): string {
  const ofStatuses = due ? ` AND ${STATUS} IN ('${statuses.join("', '")}')` : '';
  const page = (part: string): string =>
    `${rowsSql(schema)} WHERE ${part}${ofStatuses}${conditions} ${ORDER} LIMIT ${limit}`;
  const pages = (due ? DUE : partsOf(statuses)).map(page);
  if (pages.length === 1) return pages.join('');
  return `SELECT * FROM (${pages.map((each) => `(${each})`).join(' UNION ALL ')}) found ${ORDER} LIMIT ${limit}`;
}
