import type { AgentAction } from './AgentAction.ts';
import { EntropyMeter, type EntropyScore } from './EntropyMeter.ts';
import { readTurn } from './ReadTurn.ts';

/** Turns that are read, the last ones: bounds the work. */
const MAX_TURNS = 200;

export interface EntropyOptions {
  /** Tools whose turns wait for something outside; they are left out. */
  readonly polling?: readonly string[] | ((turn: AgentAction) => boolean);
}

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
