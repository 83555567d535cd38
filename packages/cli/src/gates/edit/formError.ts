import type { DevsError } from '@devs/core';
import { usageError } from '../../usageError.ts';

/** @param line - From 1. */
export function formError(line: number, problem: string): DevsError {
  return usageError(`Line ${line}: ${problem}`, 'Correct that line and give the text again.');
}

/** The text was made from something the gate does not show any more. */
export function otherVersion(line: number): DevsError {
  return usageError(
    `Line ${line}: this text was made from another version of what the gate shows.`,
    'Begin again from the current version: devs edit GATE.',
  );
}
