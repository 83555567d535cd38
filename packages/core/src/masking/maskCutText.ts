import { redacted } from './MaskRule.ts';
import { maskSensitiveData } from './maskSensitiveData.ts';
import { MASK_REACH, type Mask, safeCut } from './safeCut.ts';

/** Characters after the reach in which a place to cut is looked for first. */
const NEAR = 1024;

/**
 * Masks a text whose beginning was cut off, as the tail of a log is: what may be the rest of a secret at its front is
 * left out, about {@link MASK_REACH} characters.
 */
export function maskCutText(text: string): string {
  if (text.length <= MASK_REACH) return '';
  const mask: Mask = (part) => maskSensitiveData(part);
  for (const to of [MASK_REACH + NEAR, 2 * MASK_REACH, text.length]) {
    const cut = safeCut(text, { from: MASK_REACH - 1, to: Math.min(to, text.length) }, mask);
    if (cut !== null) return cut.rest;
  }
  return redacted('overlong');
}
