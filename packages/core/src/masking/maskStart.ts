import { redacted } from './MaskRule.ts';
import { maskSensitiveData } from './maskSensitiveData.ts';
import { MASK_REACH, type Mask, safeCut } from './safeCut.ts';

/** What is longer was cut. */
const CUT = '…';

const broad: Mask = (text) => maskSensitiveData(text);

/**
 * The beginning of a text, masked: at most `limit` characters are looked at and shown, and one reach more to see that no secret
 * is cut in two. A text of any length takes no time.
 */
export function maskStart(text: string, limit: number, mask: Mask = broad): string {
  if (text.length <= limit) return mask(text);
  const read = text.slice(0, limit + MASK_REACH);
  const cut = safeCut(read, { from: Math.floor(limit / 2), to: limit }, mask);
  return (cut === null ? redacted('overlong') : cut.head) + CUT;
}
