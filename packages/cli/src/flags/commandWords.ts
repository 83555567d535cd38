// A command and its words: how a text is split into them, and how a word is quoted to be copied.
import { usageError } from '../usageError.ts';

const WORD = /'[^']*'|"[^"]*"|[^\s'"]+/g;
const EXAMPLES = {
  check: "--check 'npm test'",
  editor: "EDITOR='code --wait'",
  pager: "PAGER='less -R'",
  notification: "--notify 'node tell-me.mjs'",
};

const LINE = /^\s*(?:(?:'[^']*'|"[^"]*"|[^\s'"]+)(?:\s+|$))+$/;

/**
 * Splits a command into program and arguments: words between spaces, a word with spaces in quotes. No shell, so no
 * variables, pipes or escapes.
 *
 * @throws DevsError `CONFIG_INVALID` when it is blank or a quote is left open.
 */
export function splitCommand(text: string, what: keyof typeof EXAMPLES = 'check'): readonly string[] {
  if (!LINE.test(text)) {
    throw usageError(
      `The ${what} ${JSON.stringify(text)} is not a command.`,
      `Use a program and its arguments, such as ${EXAMPLES[what]}.`,
    );
  }
  return (text.match(WORD) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
}

/** A word of a command line as a shell takes it, to copy. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
