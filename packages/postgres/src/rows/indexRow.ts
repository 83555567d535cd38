// What a run is listed by, as columns of `runs`.

import { ENDED_STATUSES, type NewRun } from '@devs/core/internal';

/** Text has no NUL in PostgreSQL. */
export const sqlText = (text: string | null): string | null =>
  text?.replace(/\p{Surrogate}/gu, '\u{fffd}').replaceAll('\0', '\u{fffd}') ?? null;

/** Status, reason, title and view of a run. */
export const indexValues = ({ status, reason, title, view }: NewRun['index']): readonly (string | null)[] => [
  status,
  sqlText(reason),
  sqlText(title),
  JSON.stringify(view ?? null),
];

export const ENDED_SQL = `(${ENDED_STATUSES.map((status) => `'${status}'`).join(', ')})`;
