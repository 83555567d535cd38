const WORD = /'[^']*'|"[^"]*"|[^\s'"]+/g;
const COMMAND = /^\s*(?:(?:'[^']*'|"[^"]*"|[^\s'"]+)(?:\s+|$))+$/;

/** What only a shell understands, as a word of its own or at the beginning of one. */
const OF_A_SHELL = /^(?:[|&;<>`]|\d*>|\$\()|[|&;]$/;

/**
 * Program and arguments of a command: words between spaces, a word with spaces in quotes. `null` for what is none, or
 * needs a shell.
 */
export function commandWords(text: string): readonly string[] | null {
  if (!COMMAND.test(text)) return null;
  const words = text.match(WORD) ?? [];
  if (words.some((word) => OF_A_SHELL.test(word))) return null;
  return words.map((word) => word.replace(/^(['"])(.*)\1$/s, '$2'));
}
