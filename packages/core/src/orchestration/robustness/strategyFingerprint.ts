import { sha256Hex } from '../../state/canonicalJson.ts';

/**
 * SHA-256 (hex) of a strategy without what spelling adds: case, punctuation, white space and compatibility forms.
 * Two strategies with one fingerprint count as the same; a text of punctuation alone has that of the empty one.
 */
export function strategyFingerprint(strategy: string): string {
  return sha256Hex(normalised(strategy));
}

/** True when nothing is left of a strategy but punctuation and white space. */
export function isBlankStrategy(strategy: string): boolean {
  return normalised(strategy) === '';
}

function normalised(strategy: string): string {
  return strategy
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
