import { usageError } from './usageError.ts';

const WORD = /'[^']*'|"[^"]*"|[^\s'"]+/g;
const LINE = /^\s*(?:(?:'[^']*'|"[^"]*"|[^\s'"]+)(?:\s+|$))+$/;

/**
 * Splits a command into program and arguments: words between spaces, a word with spaces in quotes. No shell, so no
 * variables, pipes or escapes.
 *
 * @throws DevsError `CONFIG_INVALID` when it is blank or a quote is left open.
 */
export function splitCommand(text: string, what: 'check' | 'editor' = 'check'): readonly string[] {
  if (!LINE.test(text)) {
    throw usageError(
      `The ${what} ${JSON.stringify(text)} is no command.`,
      what === 'check'
        ? "Give a program and its arguments, as in --check 'npm test'."
        : "Give a program and its arguments, as in EDITOR='code --wait'.",
    );
  }
  return (text.match(WORD) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
}
