// A part of the entropy score, and the turn that it reads.

import { stripVTControlCharacters } from 'node:util';
import { errorFingerprint, replaceAccidental, TIMES_AND_IDS } from './errorFingerprint.ts';

/** What a turn's tests said. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  /** Names of the failing tests, where they are known. */
  readonly failing?: readonly string[];
}

/**
 * One turn of an agent, as the entropy score reads it: what it did and what came back. Everything but `action` is
 * optional; a part of the score that needs what is missing says nothing. Plain JSON.
 */
export interface AgentAction {
  /** What was done, with its arguments: `npm test`, `edit src/a.ts +3 -1`, `message`. */
  readonly action: string;
  /** The tool that did it; absent where the agent only spoke. */
  readonly tool?: string;
  /** What came back. */
  readonly output?: string;
  /** Stands for an output that is not at hand: equal hashes are equal outputs. */
  readonly outputHash?: string;
  /** The message it failed with. */
  readonly error?: string;
  readonly tests?: TestCounts;
  /** Names the content of the workspace after the turn: a git tree, a hash. Equal names are equal files. */
  readonly tree?: string;
}

/** Characters of a text that are read: the first half and the last, where runners and compilers put what matters. */
const MAX_TEXT = 4_000;

/** A turn as the parts see it: validated, clipped, without what differs by accident. */
export interface ReadTurn {
  /** From 1, in the order given. */
  readonly number: number;
  readonly action: string;
  readonly output: string | null;
  readonly error: string | null;
  readonly tests: TestCounts | null;
  readonly testsKey: string | null;
  readonly tree: string | null;
  /** What was done and what came back. */
  readonly exchange: string;
  /** Equal for two turns that are copies of each other. */
  readonly key: string;
}

/**
 * @throws RangeError if a count of tests is no whole number of at least 0.
 * @throws TypeError if a field has another type than its own.
 */
export function readTurn(turn: AgentAction, number: number): ReadTurn {
  assertTurn(turn, number);
  const { outputHash, tests = null, tree = null } = turn;
  const action = clipText(turn.action).replace(/\s+/g, ' ').trim();
  const output = turn.output !== undefined ? normalisedText(turn.output) : hashed(outputHash);
  const error = turn.error === undefined ? null : spaced(errorFingerprint(clipText(turn.error)));
  const testsKey = tests === null ? null : keyOfTests(tests);
  const exchange = JSON.stringify([action, output, error]);
  const key = JSON.stringify([exchange, testsKey, tree, turn.tool ?? null]);
  return { number, action, output, error, tests, testsKey, tree, exchange, key };
}

function clipText(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  return `${text.slice(0, MAX_TEXT / 2)}\n…\n${text.slice(-MAX_TEXT / 2)}`;
}

const spaced = (text: string): string => text.replace(/\s+/g, ' ').trim();

const normalisedText = (text: string): string =>
  spaced(replaceAccidental(stripVTControlCharacters(clipText(text)), TIMES_AND_IDS));

const hashed = (hash: string | undefined): string | null => (hash === undefined ? null : `<output ${hash}>`);

function keyOfTests({ passed, failed, failing = [] }: TestCounts): string {
  return JSON.stringify([passed, failed, [...failing].sort()]);
}

const TEXTS = ['tool', 'output', 'outputHash', 'error', 'tree'] as const;

function assertTurn(turn: AgentAction, number: number): void {
  if (typeof turn?.action !== 'string') {
    throw new TypeError(`Expected turn ${number} to have an action, got ${String(turn?.action)}.`);
  }
  for (const name of TEXTS) {
    const value: unknown = turn[name];
    if (value !== undefined && typeof value !== 'string') {
      throw new TypeError(`Expected ${name} of turn ${number} to be a string, got ${String(value)}.`);
    }
  }
  if (turn.tests === undefined) return;
  for (const name of ['passed', 'failed'] as const) {
    const count: unknown = turn.tests[name];
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) continue;
    throw new RangeError(`Expected tests.${name} of turn ${number} to be a count, got ${String(count)}.`);
  }
}

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
