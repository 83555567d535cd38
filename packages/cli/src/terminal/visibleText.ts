// C0 and C1 controls except tab and line feed; marks that turn the direction of what follows.
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Spells out control characters: text of an agent must not move the cursor or hide what a human approves. */
export function visibleText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
