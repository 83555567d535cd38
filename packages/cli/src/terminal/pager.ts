import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { splitCommand } from '../flags/commandWords.ts';
import { displayWidth } from './displayWidth.ts';
import type { Io } from './Io.ts';

/** Shows a text in a program that turns its pages; false when that program cannot be started. */
export type Pager = (text: string) => Promise<boolean>;

/** As git has it: end at once if it fits after all, show colours, leave the text on the screen. */
const LESS = 'FRX';

/** The user's `$PAGER`, else `less`; `null` where nobody sits at a terminal, or where it is `cat` or empty. */
export function pagerFor({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Pager | null {
  const command = (env['PAGER'] ?? 'less').trim();
  if (stdout.isTTY !== true || command === '' || command === 'cat') return null;
  return (text) => pageThrough(splitCommand(command, 'pager'), text, { LESS, ...env });
}

/** Whether a text is longer than the screen, with what is wrapped. False where its size is unknown. */
export function isLong(text: string, { rows, columns }: Pick<Io['stdout'], 'rows' | 'columns'>): boolean {
  if (rows === undefined || columns === undefined) return false;
  const height = (line: string): number => Math.max(1, Math.ceil(displayWidth(line) / columns));
  return (
    stripVTControlCharacters(text)
      .split('\n')
      .reduce((sum, line) => sum + height(line), 0) > rows
  );
}

function pageThrough(
  [program = '', ...args]: readonly string[],
  text: string,
  env: Io['env'],
): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'], env: { ...env } });
    child.on('error', () => resolve(false));
    child.on('close', () => resolve(true));
    // Who leaves before the end has read enough.
    child.stdin.on('error', () => {});
    child.stdin.end(text);
  });
}
