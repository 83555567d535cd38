import { type HiddenPlace, maskAtGate } from '../masking/maskAtGate.ts';
import type { Gate } from './Gate.ts';
import { textsIn } from './gates/hiddenPlaces.ts';

/** A gate as every view of it shows it, with the places where that is less than what a yes is for. */
export type ShownGate<Of extends Gate = Gate> = Of & {
  readonly hiddenPlaces: readonly HiddenPlace[];
  /** All of them, with those that were masked before the question was recorded. */
  readonly hiddenCount: number;
};

/**
 * Returns a gate for people and programs to read: its content with registered values and fixed tokens hidden, so that
 * everything to approve stays readable. Later masking of output leaves it unchanged.
 *
 * @example
 * ```ts
 * const { artifact, hiddenPlaces, hiddenCount } = shownGate(gate);
 * ```
 */
export function shownGate<Of extends Gate>(gate: Of): ShownGate<Of> {
  const { hidden: hiddenPlaces } = textsIn(gate);
  const whole = { ...gate, hiddenPlaces, hiddenCount: hiddenPlaces.length + (gate.masked ?? 0) };
  return maskAtGate(whole, { gate: gate.sessionId }).view;
}
