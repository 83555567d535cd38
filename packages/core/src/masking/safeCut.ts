/**
 * Longest secret, with its name or label, that is still masked whole in a text that is read in pieces or was cut.
 * Characters; the longest keys in use have a quarter of it.
 */
export const MASK_REACH: number = 16 * 1024;

export type Mask = (text: string) => string;

/** Where a text may be cut: after `from`, not after `to`. */
export interface CutRange {
  readonly from: number;
  readonly to: number;
}

export interface Cut {
  readonly at: number;
  /** What is before the cut and after it, masked. */
  readonly head: string;
  readonly rest: string;
}

/**
 * Finds a place where a text can be cut without cutting a secret: masking the two parts gives what masking the whole
 * gives. Line ends are tried first, then spaces, then any place. `null` when every place tried is inside a secret.
 */
export function safeCut(text: string, range: CutRange, mask: Mask): Cut | null {
  const whole = mask(text);
  for (const at of cutCandidates(text, range)) {
    const [head, rest] = [mask(text.slice(0, at)), mask(text.slice(at))];
    if (head + rest === whole) return { at, head, rest };
  }
  return null;
}

function* cutCandidates(text: string, { from, to }: CutRange): Generator<number> {
  const middle = Math.floor((from + to) / 2);
  for (const limit of [to, middle]) {
    const line = text.lastIndexOf('\n', limit - 1) + 1;
    if (line > from) yield line;
    const word = text.lastIndexOf(' ', limit - 1) + 1;
    if (word > from) yield word;
    yield wholeCharacter(text, limit);
  }
  yield wholeCharacter(text, from + 1);
}

/** Not between the two halves of a character outside the basic plane. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
