import type { Gate } from '../../src/engine/gates/Gate.ts';

/** Where a driver can be told to stand still. */
export type FreezePoint =
  | 'after the Thought'
  | 'in a step'
  | 'before a step'
  | 'before the output'
  | 'after the Action'
  | 'before a question'
  | 'after a question';

export interface DriverCommand {
  readonly run: 'gated' | 'circle';
  /** Of the run. */
  readonly id: string;
  readonly freeze?: FreezePoint;
  /** Visits, counted from 1 over all processes, in which the process kills itself. */
  readonly dieAt?: readonly number[];
}

export type DriverAnswer =
  | { readonly status: string; readonly reason: string | null; readonly gates: readonly Gate[] }
  /** Of the error the drive ended with. */
  | { readonly code: string };
