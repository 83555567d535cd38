// What a terminal shows as nothing, as a space that is none, or as something else than its place in the text: controls but
// line feed and tab, format characters, line and paragraph separators, what Unicode lets a font leave out (tags, fillers,
// variation selectors), the blank of Braille, spaces but the space, halves of characters, and what has no character.
const HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** Begins the escape; where a text has it itself, it is escaped, too. */
const OPENING = /⟨(?=U\+)/g;

/** Stands for a line feed that must not end its line. No character: no text means anything by it. */
const LINE_FEED = '\uFDD0';

/**
 * Spells out what cannot be seen, `⟨U+200B⟩`: text of an agent must not move the cursor or hide what a human approves. Two
 * different texts never come out the same. For the end of the way to a reader: twice, and the escapes are escaped.
 *
 * @example
 * ```ts
 * visibleText('pay\u202Eeve'); // 'pay⟨U+202E⟩eve'
 * ```
 */
export function visibleText(text: string): string {
  return text
    .replace(OPENING, escapeOf)
    .replace(HIDDEN, (char) => escapeOf(char === LINE_FEED ? '\n' : char));
}

/**
 * A text that stays in its line, whatever is in it: {@link visibleText} spells out its line feeds.
 *
 * @example
 * ```ts
 * visibleText(oneLine('a\nb')); // 'a⟨U+000A⟩b'
 * ```
 */
export function oneLine(text: string): string {
  return text.replaceAll(LINE_FEED, '⟨U+FDD0⟩').replaceAll('\n', LINE_FEED);
}

/**
 * As {@link visibleText} for finished JSON, which means the same afterwards.
 *
 * @example
 * ```ts
 * visibleJson('"pay\u202Eeve"'); // the characters "pay\\u202eeve"
 * ```
 */
export function visibleJson(json: string): string {
  return json.replace(HIDDEN, (char) =>
    Array.from({ length: char.length }, (_, at) => unitOf(char.charCodeAt(at))).join(''),
  );
}

const unitOf = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;

function escapeOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** Spaces, controls, and characters that no font draws: marks of direction, joiners, fillers, tags, halves of a pair. */
const UNSEEN = /[\s\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/u;
const ONLY_UNSEEN = new RegExp(`^${UNSEEN.source}*$`, 'u');

/** Whether a text shows nothing to whoever reads it: it says no more than an empty one. */
export function isBlank(text: string): boolean {
  return ONLY_UNSEEN.test(text);
}
