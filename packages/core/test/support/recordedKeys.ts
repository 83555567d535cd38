import { createDatabase } from '../../src/db/createDatabase.ts';

/** The calls whose results are in the state file: keys of steps, and what is in ‹› in their results. */
export function recordedKeys(dbPath: string): ReadonlySet<string> {
  const db = createDatabase({ dbPath });
  const steps = db
    .prepare<[], { readonly key: string; readonly result: string | null }>(
      `SELECT thread_id || '/' || lg_task_id || '/' || name AS key, result_json AS result
       FROM agent_steps WHERE state = 'done'`,
    )
    .all();
  db.close();
  return new Set(steps.flatMap(({ key, result }) => [key, ...(result?.match(/‹[^›]*›/gu) ?? [])]));
}
