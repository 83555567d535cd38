import type { Command } from 'commander';
import type { ExitCode } from '../exitCodes.ts';
import type { Session } from './Session.ts';

/** Runs the work of a verb with the options of its command line and keeps its exit code. */
export type Start = (command: Command, work: (session: Session) => Promise<ExitCode>) => Promise<void>;

/** Text under the options of a verb's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`;
}
