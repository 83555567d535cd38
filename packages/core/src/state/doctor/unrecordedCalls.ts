import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { note, type ValueFinding } from './finding.ts';

interface CalledRow {
  readonly node: string;
  readonly what: 'model' | 'tool';
  readonly name: string;
  readonly runs: number;
}

const SELECT_CALLED = `
  SELECT payload_json ->> '$.node' AS node, payload_json ->> '$.what' AS what, payload_json ->> '$.name' AS name,
         count(DISTINCT thread_id) AS runs
  FROM events WHERE name = 'CALL_NOT_RECORDED' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

/** Calls that nodes made outside of steps: a crash or a retry makes them again. */
export function unrecordedCalls(db: Database): readonly ValueFinding[] {
  return prepare<[], CalledRow>(db, SELECT_CALLED)
    .all()
    .map(({ node, what, name, runs }) => {
      const where = runs === 1 ? 'in 1 run' : `in ${runs} runs`;
      const detail = `Node "${node}" called ${what} "${name}" outside of a step ${where}; a crash or a retry makes the call again.`;
      return note('CALL_NOT_RECORDED', 'events', detail);
    });
}
