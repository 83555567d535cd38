import type { Runs } from '@devs/core';

export type GateEvent = Awaited<ReturnType<Runs['gateEvents']>>[number];

/** Events about the gates of one run, in their order. */
interface EventsOfRun {
  readonly runId: string;
  readonly events?: readonly GateEvent[];
}

/** JSON for {@link eventsSql}; `null` for an empty list. `event` is text, because PostgreSQL's JSON rejects NUL. */
export function eventRows(runs: readonly EventsOfRun[]): string | null {
  const rows = runs.flatMap(({ runId, events = [] }) =>
    events.map(({ cursor: _, ...event }) => ({ run_id: runId, event: JSON.stringify(event) })),
  );
  return rows.length === 0 ? null : JSON.stringify(rows.map((row, n) => ({ ...row, n })));
}

/**
 * Parts of a `WITH`: events of the runs in `held (run_id)` get the next positions. The row that counts is locked after the rows
 * of the runs, and until the commit: positions are seen in their order.
 *
 * @param json - A parameter, with {@link eventRows}.
 */
export const eventsSql = (schema: string, json: string): string => `told AS (
  SELECT e.run_id, e.event, row_number() OVER (ORDER BY e.n) AS n
  FROM json_to_recordset(${json}::json) AS e (run_id text, event text, n int) JOIN held ON held.run_id = e.run_id
), counted AS (
  UPDATE ${schema}.gate_event_count c SET position = c.position + t.n
  FROM (SELECT count(*) AS n FROM told) t WHERE t.n > 0
  RETURNING c.position - t.n AS before
), numbered AS (
  INSERT INTO ${schema}.gate_events (position, run_id, event)
  SELECT counted.before + told.n, told.run_id, told.event FROM told, counted
)`;
