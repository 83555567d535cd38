import { HARMLESS, type HeldOutHarmless } from '../../masking-heldout/harmless.ts';
import { type HeldOutFamily, type HeldOutShape, SHAPES } from '../../masking-heldout/shapes.ts';
import type { Mask } from './measure.ts';

/** Characters of a secret in a row from which it counts as leaked; all of it, if it is shorter. */
const LEAK = 8;

/** What a mask does with one family of the held-out set. */
export interface HeldOutRecall {
  readonly family: HeldOutFamily;
  /** Texts of which no part of any secret is left. */
  readonly masked: number;
  readonly of: number;
  readonly misses: readonly HeldOutShape[];
}

export const HELD_OUT_FAMILIES: readonly HeldOutFamily[] = [
  'own-shape',
  'key-block',
  'url',
  'encoded',
  'by-name',
];

export function heldOutRecall(mask: Mask, family: HeldOutFamily): HeldOutRecall {
  const entries = SHAPES.filter((entry) => entry.family === family);
  const misses = entries.filter((entry) => leaves(mask(entry.text), entry));
  return { family, masked: entries.length - misses.length, of: entries.length, misses };
}

/** The harmless texts that a mask changes. */
export function heldOutAlarms(mask: Mask): readonly HeldOutHarmless[] {
  return HARMLESS.filter(({ text }) => mask(text) !== text);
}

/** True if a part of a secret is left that stands nowhere else in the text. */
export function leaves(masked: string, { text, secrets }: HeldOutShape): boolean {
  const around = secrets.reduce((rest, secret) => rest.replaceAll(secret, '\0'), text);
  return secrets.some((secret) => {
    const length = Math.min(LEAK, secret.length);
    for (let from = 0; from + length <= secret.length; from += 1) {
      const part = secret.slice(from, from + length);
      if (masked.includes(part) && !around.includes(part)) return true;
    }
    return false;
  });
}
