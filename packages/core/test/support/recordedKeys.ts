import { createDatabase } from '../../src/db/createDatabase.ts';

/** The calls whose results are in the state file: keys of steps, and what is in ‹› in their results. */
export function recordedKeys(dbPath: string): ReadonlySet<string> {
  const rows = textsIn(
    dbPath,
    "SELECT thread_id || '/' || lg_task_id || '/' || name || char(10) || coalesce(result_json, '') FROM agent_steps WHERE state = 'done'",
  );
  return new Set(rows.flatMap((row) => [row.slice(0, row.indexOf('\n')), ...(row.match(/‹[^›]*›/gu) ?? [])]));
}

/** The recorded results of tasks of the functional API, as JSON. */
export const taskResults = (dbPath: string): readonly string[] =>
  textsIn(
    dbPath,
    "SELECT result_json FROM agent_steps WHERE state = 'done' AND name LIKE 'task %' AND result_json IS NOT NULL",
  );

function textsIn(dbPath: string, sql: string): readonly string[] {
  const db = createDatabase({ dbPath });
  const texts = db.prepare<[], string>(sql).pluck().all();
  db.close();
  return texts;
}
