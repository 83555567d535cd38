import type { Durability } from '../../../src/config/durability.ts';
import { agent } from './agent.ts';
import { changes } from './changes.ts';
import { cancelledChildren, children } from './children.ts';
import { deadlines } from './deadlines.ts';
import { entropy } from './entropy.ts';
import { frames } from './frames.ts';
import type { Scenario } from './Scenario.ts';
import { storeAnew, storeInAStep } from './store.ts';
import { threeGates } from './threeGates.ts';
import { toolThreads } from './toolThreads.ts';
import { turns } from './turns.ts';
import { lastVote } from './votes.ts';
import { waits } from './waits.ts';

/** Each dies at any of its statements, and must come to the same end. A new feature that records its work is a line here. */
const SCENARIOS: readonly Scenario[] = [
  waits,
  children,
  cancelledChildren,
  turns,
  storeInAStep,
  storeAnew,
  frames,
  threeGates,
  entropy,
  deadlines,
  lastVote,
  agent,
  toolThreads,
  ...changes,
];

/** The wanted scenarios, each with the name of its tests. */
export const named = (isWanted: (scenario: Scenario) => boolean): readonly (readonly [string, Scenario])[] =>
  SCENARIOS.filter(isWanted).map((scenario) => [scenario.what, scenario]);

/** The cheap ones, which are short in both modes. */
const IN_BOTH: readonly Scenario[] = [waits, threeGates, deadlines];

/** The same, each in the modes of durability: all in both in the long form. */
export const inModes = (
  isWanted: (scenario: Scenario) => boolean,
  isLong: boolean,
): readonly (readonly [string, Durability, Scenario])[] =>
  named(isWanted).flatMap(([what, scenario]) => {
    const modes = isLong || IN_BOTH.includes(scenario) ? (['async', 'sync'] as const) : (['async'] as const);
    return modes.map((durability) => [what, durability, scenario] as const);
  });

export function scenarioNamed(what: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.what === what);
  if (found === undefined) throw new RangeError(`There is no scenario "${what}".`);
  return found;
}
