import type { FileFinding } from '../../db/checkFile.ts';

/** Something about what a state file holds. */
export interface ValueFinding {
  readonly code:
    | 'VALUE_DAMAGED'
    | 'VALUE_MISSING'
    | 'ROW_ORPHANED'
    | 'ROW_UNSEALED'
    | 'BLOB_UNUSED'
    | 'CALL_NOT_RECORDED'
    | 'DECISION_LOG_BROKEN'
    | 'NOT_EXAMINED';
  /** A `note` harms nothing. */
  readonly severity: 'error' | 'note';
  readonly table: string | null;
  readonly detail: string;
}

/** What `doctor` reports: `code` is for programs, `detail` for people. Holds ids, never a stored value. */
export type Finding = FileFinding | ValueFinding;

export function error(code: ValueFinding['code'], table: string, detail: string): ValueFinding {
  return { code, severity: 'error', table, detail };
}

export function note(code: ValueFinding['code'], table: string | null, detail: string): ValueFinding {
  return { code, severity: 'note', table, detail };
}
