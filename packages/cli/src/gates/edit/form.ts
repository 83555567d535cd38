import { type DevsError, type GateEdit, isDevsError } from '@devs/core';
import { usageError } from '../../usageError.ts';

/** What a gate shows as a text to change, and the way back. */
export interface GateForm {
  readonly text: string;
  readonly extension: '.md' | '.yaml';
  /** Begins and ends a comment. The first line of a form is one. */
  readonly comment: readonly [begin: string, end: string];
  /**
   * The edit that a changed text makes; `null` when it says the same.
   *
   * @throws DevsError naming the line; see {@link isFormError}.
   */
  readonly parse: (text: string) => GateEdit | null;
}

/** @param line - From 1. */
export function formError(line: number, problem: string): DevsError {
  return usageError(`Line ${line}: ${problem}`, 'Correct that line and submit the text again.');
}

/** The text was made from something the gate does not show any more. */
export function otherVersion(line: number): DevsError {
  return usageError(
    `Line ${line}: this text was made from another version of the gate's content.`,
    'Start again from the current version: devs edit GATE.',
  );
}

/** Whether the text can be corrected and read again. */
export const isFormError = (error: unknown): boolean =>
  isDevsError(error, 'CONFIG_INVALID') || isDevsError(error, 'DAG_INVALID');
