import type { ReadTurn } from './ReadTurn.ts';

/** What one part makes of one turn. */
export type Sign =
  /** Seen before. `strength` in (0, 1] says how much of a repetition it is. */
  | { readonly kind: 'repeat'; readonly strength: number }
  /** Speaks against a loop. */
  | { readonly kind: 'fresh' }
  /** Proven progress: speaks against every part. */
  | { readonly kind: 'progress' }
  /** The turn holds nothing this part reads. */
  | { readonly kind: 'silent' };

export const REPEAT: Sign = { kind: 'repeat', strength: 1 };
export const FRESH: Sign = { kind: 'fresh' };
export const PROGRESS: Sign = { kind: 'progress' };
export const SILENT: Sign = { kind: 'silent' };

export type EntropyPartName =
  | 'same_output'
  | 'near_same_output'
  | 'same_error'
  | 'alternation'
  | 'same_test_results'
  | 'undone_edits';

/** Follows one trace, turn by turn. */
export interface Watch {
  observe(turn: ReadTurn): Sign;
  /** In plain words, what was repeated last. */
  evidence(): string;
}

/** One sign of a loop, and how far it may be trusted. */
export interface EntropyPart {
  readonly name: EntropyPartName;
  /** The most it can say alone, in (0, 1): below the threshold, it needs another part beside it. */
  readonly weight: number;
  /** How much of what is missing to that one repetition adds, in (0, 1). */
  readonly gain: number;
  /** What a fresh sign leaves of it, in [0, 1). */
  readonly keep: number;
  start(): Watch;
}

/** Turn numbers named in an evidence text; the rest is counted. */
const NUMBERS_SHOWN = 6;

/** Where each key of a trace was seen, by turn number. */
export class Sightings {
  readonly #turns = new Map<string, number[]>();

  /** Notes a sighting; returns the numbers of the earlier ones, oldest first. */
  add(key: string, turn: number): readonly number[] {
    const before = this.#turns.get(key) ?? [];
    this.#turns.set(key, [...before.slice(-NUMBERS_SHOWN), turn]);
    return before;
  }

  /** `4 times (turns 2, 3, 5, 6)`. */
  told(key: string): string {
    const turns = this.#turns.get(key) ?? [];
    if (turns.length <= NUMBERS_SHOWN) return `${turns.length} times (turns ${turns.join(', ')})`;
    return `more than ${NUMBERS_SHOWN} times (turns ${turns.slice(-NUMBERS_SHOWN).join(', ')})`;
  }
}
