import type { Gate } from '@devs/core';

/** The open questions of one run's file, to be what `gates` has of it. */
export interface GatesOfRun {
  readonly runId: string;
  readonly gates: readonly Gate[];
}

/** JSON for {@link askedSql}. `gate` is text: PostgreSQL's JSON takes no NUL. */
export function gateRows(runs: readonly GatesOfRun[]): string {
  const rows = runs.flatMap(({ runId, gates }) =>
    gates.map((gate) => ({
      run_id: runId,
      session_id: gate.sessionId,
      kind: gate.kind,
      artifact_hash: gate.artifactHash,
      gate: JSON.stringify(gate),
      opened_at: gate.openedAt,
    })),
  );
  return JSON.stringify(rows);
}

/** What of {@link gateRows} there is, as rows. @param json - A parameter. */
const rowsFromJson = (json: string): string =>
  `json_to_recordset(${json}::json) AS a (run_id text, session_id text, kind text, artifact_hash text, gate text, opened_at timestamptz)`;

/**
 * Two parts of a `WITH`: what is open in the files of the runs in `held (run_id, tenant, has_gates)` is open in `gates`, the rest
 * of them is closed. A question that somebody has decided, and whose answer the file has not taken, stays decided until
 * `reopens`.
 */
export const gatesSql = (
  schema: string,
  { json, reopens }: { readonly json: string; readonly reopens: boolean },
): string => `closed AS (
  UPDATE ${schema}.gates g SET status = 'closed', gate = 'null' FROM held h
  WHERE h.has_gates AND g.run_id = h.run_id AND g.status <> 'closed'
    AND NOT EXISTS (SELECT 1 FROM ${rowsFromJson(json)} WHERE a.session_id = g.session_id)
), opened AS (
  INSERT INTO ${schema}.gates AS g (session_id, run_id, tenant, kind, artifact_hash, gate, status, opened_at)
  SELECT a.session_id, a.run_id, h.tenant, a.kind, a.artifact_hash, a.gate, 'open', a.opened_at
  FROM ${rowsFromJson(json)} JOIN held h ON h.run_id = a.run_id AND h.has_gates
  ON CONFLICT (session_id) DO UPDATE SET gate = excluded.gate, artifact_hash = excluded.artifact_hash,
    status = ${reopens ? "'open'" : "CASE g.status WHEN 'decided' THEN 'decided' ELSE 'open' END"}
  WHERE g.run_id = excluded.run_id
)`;
