/** What ends a line or cannot be seen: controls, line and paragraph separators, and every other kind of space. */
const SPACE = /[\p{Cc}\p{Z}]+/gu;

/** Marks that turn the direction of a text, and characters without width. Joiners, which scripts and emoji need, stay. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/**
 * A text of an agent as a part of one line: in a commit's message a line of its own would be a trailer, as
 * `Signed-off-by: …` or one of ours, that nobody signed.
 */
export function singleLine(text: string): string {
  return text.replaceAll(INVISIBLE, '').replaceAll(SPACE, ' ').trim();
}
