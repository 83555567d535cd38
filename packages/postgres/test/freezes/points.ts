/** Where a worker stands still, as where a machine sleeps, by the statement it is at. */
export interface FreezePoint {
  readonly name: string;
  /** In the statement; `null` for in a call. */
  readonly sql: RegExp | null;
  /** Of the statements that are it, from 1. */
  readonly nth: number;
  readonly when: 'before it is sent' | 'once it is sent' | 'once it is answered';
}

const SHIP = /INSERT INTO \S+\.run_changes/;

export const POINTS: readonly FreezePoint[] = [
  { name: 'before it ships', sql: SHIP, nth: 3, when: 'before it is sent' },
  { name: 'while a change is in flight', sql: SHIP, nth: 3, when: 'once it is sent' },
  { name: 'while it settles', sql: /settled = lease/, nth: 1, when: 'once it is answered' },
  { name: 'while it puts a base', sql: /INSERT INTO \S+\.run_bases/, nth: 1, when: 'once it is answered' },
  { name: 'in a call', sql: null, nth: 2, when: 'once it is sent' },
  { name: 'while it reaps', sql: /^WITH theirs AS/, nth: 1, when: 'once it is answered' },
];
