import { createDatabase } from '../../src/db/createDatabase.ts';

/** The calls whose results are in the state file. */
export function recordedKeys(dbPath: string): ReadonlySet<string> {
  const db = createDatabase({ dbPath });
  const keys = db
    .prepare<[], string>(
      "SELECT thread_id || '/' || lg_task_id || '/' || name FROM agent_steps WHERE state = 'done'",
    )
    .pluck()
    .all();
  db.close();
  return new Set(keys);
}
