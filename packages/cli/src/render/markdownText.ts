// Text of somebody else in Markdown of ours.
import { oneLine } from '../terminal/visible.ts';

/** A fence longer than any in the text. */
export function fencedBlock(language: string, text: string): readonly string[] {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, text, fence, ''];
}

/** For a line: it stays in it, without markup. */
export const inlineText = (text: string): string =>
  oneLine(text).replaceAll(/[\\`*_[\]<>&#!|~]/g, String.raw`\$&`);
