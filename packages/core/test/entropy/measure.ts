import type { AgentAction } from '../../src/engine/entropy/EntropyPart.ts';
import { isStuck, type Trace } from './traces/Trace.ts';

/** Says after how many turns a human would be asked; `null` for never. */
export type Detector = (turns: readonly AgentAction[], polling: readonly string[]) => number | null;

export interface Figures {
  /** Of the traces that tripped, the share that is stuck. */
  readonly precision: number;
  /** Of the stuck traces, the share that tripped. */
  readonly recall: number;
  /** Trips in traces that need no human, per 1,000 of their turns. */
  readonly falsePer1000: number;
  /** Median number of turns until a stuck trace tripped. */
  readonly turnsToTrip: number | null;
  readonly missed: readonly string[];
  readonly falseAlarms: readonly string[];
}

export function measure(traces: readonly Trace[], detect: Detector): Figures {
  const judged = traces.map((trace) => ({ trace, at: detect(trace.turns, trace.polling ?? []) }));
  const tripped = judged.filter(({ at }) => at !== null);
  const stuck = judged.filter(({ trace }) => isStuck(trace));
  const found = stuck.flatMap(({ at }) => (at === null ? [] : [at]));
  const calm = judged.filter(({ trace }) => !isStuck(trace));
  const calmTurns = calm.reduce((sum, { trace }) => sum + trace.turns.length, 0);
  const falseAlarms = calm.filter(({ at }) => at !== null).map(({ trace }) => trace.about);
  return {
    precision: tripped.length === 0 ? 1 : found.length / tripped.length,
    recall: stuck.length === 0 ? 1 : found.length / stuck.length,
    falsePer1000: calmTurns === 0 ? 0 : (1000 * falseAlarms.length) / calmTurns,
    turnsToTrip: found.sort((a, b) => a - b)[Math.floor(found.length / 2)] ?? null,
    missed: stuck.filter(({ at }) => at === null).map(({ trace }) => trace.about),
    falseAlarms,
  };
}
