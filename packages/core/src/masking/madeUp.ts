// Tells a value that a generator made from a word that a person chose, by how often the kinds of characters change.

const NONE = 0;
const DIGIT = 1;
const UPPER = 2;
const LOWER = 3;

interface Mixture {
  /** Letters and digits. */
  readonly length: number;
  readonly digits: number;
  /** Changes between digits, upper case and lower case, other characters left out. */
  readonly changes: number;
  /** Changes between digits and letters alone. */
  readonly digitChanges: number;
}

/** `PasswordResetTokenV2` changes a third of the time, random letters and digits three times in five. */
const MIN_CHANGES = 0.42;
const MIN_CHANGES_WITH_DIGITS = 0.36;
/** Words with a number change once; random values of one case two times in five. */
const MIN_DIGIT_CHANGES = 0.18;

/** Times and counters are mostly digits; hex has five of eight. */
const MAX_DIGITS = 0.78;
/** How much less is asked for where a prefix says that a value follows. */
const AFTER_PREFIX = 0.09;

/** True for a text of letters and digits that looks like a generator's; meaningful from some 12 characters. */
export function isMadeUp(text: string, isAfterPrefix = false): boolean {
  const { length, digits, changes, digitChanges } = mixtureOf(text);
  if (digits === 0 || digits > length * MAX_DIGITS) return false;
  if (digitChanges >= Math.max(3, length * MIN_DIGIT_CHANGES)) return true;
  const share = (digits >= 3 ? MIN_CHANGES_WITH_DIGITS : MIN_CHANGES) - (isAfterPrefix ? AFTER_PREFIX : 0);
  return changes >= length * share;
}

function mixtureOf(text: string): Mixture {
  const mixture = { length: 0, digits: 0, changes: 0, digitChanges: 0 };
  let before = NONE;
  for (let index = 0; index < text.length; index += 1) {
    const kind = charKind(text.charCodeAt(index));
    if (kind === NONE) continue;
    mixture.length += 1;
    if (kind === DIGIT) mixture.digits += 1;
    if (before !== NONE && kind !== before) {
      mixture.changes += 1;
      if (kind === DIGIT || before === DIGIT) mixture.digitChanges += 1;
    }
    before = kind;
  }
  return mixture;
}

function charKind(code: number): number {
  if (code >= 48 && code <= 57) return DIGIT;
  if (code >= 65 && code <= 90) return UPPER;
  return code >= 97 && code <= 122 ? LOWER : NONE;
}
