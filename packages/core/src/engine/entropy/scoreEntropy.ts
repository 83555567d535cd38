import {
  type AgentAction,
  type EntropyPart,
  type EntropyPartName,
  type ReadTurn,
  readTurn,
  type Sign,
  type Watch,
} from './EntropyPart.ts';
import { alternation } from './parts/alternation.ts';
import { nearSameOutput } from './parts/nearSameOutput.ts';
import { sameError } from './parts/sameError.ts';
import { sameOutput } from './parts/sameOutput.ts';
import { sameTestResults } from './parts/sameTestResults.ts';
import { undoneEdits } from './parts/undoneEdits.ts';

/** One part of a score. */
export interface EntropyShare {
  readonly part: EntropyPartName;
  /** What the part adds to the score; but for rounding, the shares add up to it. */
  readonly share: number;
  /** In plain words, with turn numbers from 1. */
  readonly evidence: string;
}

export interface EntropyScore {
  /** How much the trace repeats itself, in [0, 1]. */
  readonly score: number;
  /** The parts that say something, the strongest first. */
  readonly parts: readonly EntropyShare[];
}

export interface EntropyOptions {
  /** Tools whose turns wait for something outside; they are left out. */
  readonly polling?: readonly string[] | ((turn: AgentAction) => boolean);
}

/** Turns that are read, the last ones: bounds the work. */
const MAX_TURNS = 200;

/**
 * How much an agent repeats itself: 0 for a trace in which every turn brings something new, towards 1 for a loop.
 * Pure; linear in the turns read (the last 200, 4,000 characters of each text). As long as a trace is read whole, a
 * copy of one of its turns never lowers the score.
 *
 * @throws RangeError if a count of tests is no whole number of at least 0.
 * @throws TypeError if a turn's field has another type than its own.
 * @see docs/internals/guards.md#entropy-score
 *
 * @example
 * ```ts
 * const turn = { action: 'npm test', error: 'AssertionError: expected 1 to be 2' };
 * scoreEntropy([turn, turn, turn, turn]).score; // 0.79
 * ```
 */
export function scoreEntropy(turns: readonly AgentAction[], options: EntropyOptions = {}): EntropyScore {
  return meterAfter(turns, options).read();
}

/** The scores after each turn of a trace. */
export function entropyAlong(turns: readonly AgentAction[], options: EntropyOptions = {}): readonly number[] {
  const scores: number[] = [];
  meterAfter(turns, options, (score) => scores.push(score));
  return scores;
}

function meterAfter(
  turns: readonly AgentAction[],
  { polling = [] }: EntropyOptions,
  onTurn: (score: number) => void = () => {},
): EntropyMeter {
  const isPolling =
    typeof polling === 'function'
      ? polling
      : ({ tool }: AgentAction) => tool !== undefined && polling.includes(tool);
  const meter = new EntropyMeter();
  const first = Math.max(0, turns.length - MAX_TURNS);
  for (const [index, turn] of turns.slice(first).entries()) {
    const read = readTurn(turn, first + index + 1);
    if (!isPolling(turn)) meter.observe(read);
    onTurn(meter.score);
  }
  return meter;
}

/** Every part of the score. */
const ENTROPY_PARTS: readonly EntropyPart[] = [
  sameOutput,
  nearSameOutput,
  sameError,
  alternation,
  sameTestResults,
  undoneEdits,
];

/** What any turn that is not a copy leaves of a part it says nothing about. */
const AGED = 0.97;

/** What proven progress leaves of every part. */
const AFTER_PROGRESS = 0.25;

interface Gauge {
  readonly part: EntropyPart;
  readonly watch: Watch;
  /** In [0, 1): 0 is no sign of a loop. */
  level: number;
}

/**
 * Follows a trace and keeps one level per part.
 *
 * Invariant: a turn that is a copy of an earlier one never lowers a level, so it never lowers the score.
 */
class EntropyMeter {
  readonly #gauges: readonly Gauge[] = ENTROPY_PARTS.map((part) => ({
    part,
    watch: part.start(),
    level: 0,
  }));
  readonly #keys = new Set<string>();

  observe(turn: ReadTurn): void {
    const isCopy = this.#keys.has(turn.key);
    this.#keys.add(turn.key);
    const signs = this.#gauges.map(({ watch }) => watch.observe(turn));
    const hasProgress = !isCopy && signs.some(({ kind }) => kind === 'progress');
    this.#gauges.forEach((gauge, index) => {
      const sign = signs[index] as Sign;
      if (hasProgress) gauge.level *= AFTER_PROGRESS;
      if (sign.kind === 'repeat') gauge.level += (1 - gauge.level) * gauge.part.gain * sign.strength;
      else if (!isCopy) gauge.level *= sign.kind === 'fresh' ? gauge.part.keep : AGED;
    });
  }

  /** Noisy-or: each part is taken for an independent reason. Source: Pearl, "Probabilistic Reasoning", 1988, §4.3.2. */
  get score(): number {
    return rounded(1 - this.#gauges.reduce((calm, gauge) => calm * (1 - contribution(gauge)), 1));
  }

  /** The score and its parts. A share is the part's share of the score's logarithm, in which noisy-or is a sum. */
  read(): EntropyScore {
    const { score } = this;
    const logarithm = (gauge: Gauge): number => Math.log1p(-contribution(gauge));
    const total = this.#gauges.reduce((sum, gauge) => sum + logarithm(gauge), 0);
    const parts = this.#gauges
      .filter(({ level }) => level > 0)
      .map((gauge) => ({
        part: gauge.part.name,
        share: rounded((score * logarithm(gauge)) / total),
        evidence: gauge.watch.evidence(),
      }))
      .filter(({ share }) => share > 0)
      .sort((a, b) => b.share - a.share);
    return { score, parts };
  }
}

/** To what a person reads: four digits. */
const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;

const contribution = ({ part, level }: Gauge): number => part.weight * level;
