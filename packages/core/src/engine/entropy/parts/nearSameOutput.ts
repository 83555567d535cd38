import { type EntropyPart, FRESH, type ReadTurn, SILENT, type Sign, type Watch } from '../EntropyPart.ts';

/** Shingles from which a text can be compared: in a short one, a template is all there is. */
const MIN_SHINGLES = 15;

/** Resemblance from which two texts say the same. */
const NEAR = 0.7;

/** Texts a new one is compared with: bounds the work per turn. */
const COMPARED = 8;

interface NumberedText {
  readonly number: number;
  readonly text: string;
  readonly shingles: ReadonlySet<string>;
}

class NearSameOutput implements Watch {
  readonly #testsSeen = new Set<string>();
  #texts: readonly NumberedText[] = [];
  #last = { number: 0, of: 0, percent: 0 };

  observe(turn: ReadTurn): Sign {
    const { number, testsKey } = turn;
    const hasNewTests = testsKey !== null && !this.#testsSeen.has(testsKey);
    if (testsKey !== null) this.#testsSeen.add(testsKey);
    const text = turn.output ?? turn.error ?? '';
    const shingles = shinglesOf(text);
    if (shingles.size < MIN_SHINGLES) return SILENT;
    const { of, near, isExact } = this.#nearest(text, shingles);
    this.#texts = [...this.#texts, { number, text, shingles }].slice(-COMPARED);
    // What is exactly the same is another part's; and where the tests say something new, so does their log.
    if (isExact || hasNewTests) return SILENT;
    if (near < NEAR) return FRESH;
    this.#last = { number, of, percent: Math.round(100 * near) };
    return { kind: 'repeat', strength: near };
  }

  evidence(): string {
    const { number, of, percent } = this.#last;
    return `nearly the same output (turn ${number} is ${percent} % that of turn ${of})`;
  }

  #nearest(text: string, shingles: ReadonlySet<string>) {
    let nearest = { of: 0, near: 0, isExact: false };
    for (const known of this.#texts) {
      if (known.text === text) return { of: known.number, near: 1, isExact: true };
      const near = resemblance(known.shingles, shingles);
      if (near >= nearest.near) nearest = { of: known.number, near, isExact: false };
    }
    return nearest;
  }
}

/** An output or error in almost the same words as one of the last eight. Can trip alone, slowly. */
export const nearSameOutput: EntropyPart = {
  name: 'near_same_output',
  weight: 0.85,
  gain: 0.35,
  keep: 0.5,
  start: () => new NearSameOutput(),
};

/** Words in a row that count as one. */
const WIDTH = 3;

/** The runs of three words in a text. Source: Broder, "On the resemblance and containment of documents", 1997. */
function shinglesOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const shingles = new Set<string>();
  for (let start = 0; start + WIDTH <= words.length; start += 1) {
    shingles.add(words.slice(start, start + WIDTH).join(' '));
  }
  return shingles;
}

/** Jaccard's index: shared shingles over all shingles, in [0, 1]. */
function resemblance(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  if (large.size === 0) return 0;
  let shared = 0;
  for (const shingle of small) if (large.has(shingle)) shared += 1;
  return shared / (a.size + b.size - shared);
}
