import { AGENTS, MISSING_TOOL, type TrialName } from './agents.ts';
import type { Repository } from './Repository.ts';
import { REPOSITORIES } from './repositories.ts';
import type { Combination } from './runTrial.ts';
import { TRANSPORTS } from './Transport.ts';

/** The twelve, and what is tried beside them. */
export const TRIALS: readonly TrialName[] = [...AGENTS.map(([name]) => name), MISSING_TOOL];

const at = <Item>(items: readonly Item[], index: number): Item => items[index % items.length] as Item;

/**
 * Every combination once. In this order the first few have as many repositories, agents and transports as they can: their
 * numbers have no common divisor, so that counting along all three at once meets each combination.
 *
 * @param turn - Where it begins.
 */
export function allCombinations(turn: number): readonly Combination[] {
  const all = REPOSITORIES.length * TRIALS.length * TRANSPORTS.length;
  return Array.from({ length: all }, (_, step) => ({
    repository: at(REPOSITORIES, step + turn),
    agent: at(TRIALS, step + turn),
    transport: at(TRANSPORTS, step + turn),
  }));
}

/** The repositories that need nothing but this workspace. */
export const LOCAL_REPOSITORIES: readonly Repository[] = REPOSITORIES.filter(
  ({ local }) => local !== undefined,
);

/** The first: the checks of `node --test` take the least. */
const BY_SPEED: readonly Repository[] = ['node-test', 'fast-json-stable-stringify', 'vitest'].map(
  (wanted) => LOCAL_REPOSITORIES.find(({ name }) => name === wanted) as Repository,
);

/** Their vice shows in what a runner of tests prints, and in what only a reviewer reads. */
const BESIDE: readonly TrialName[] = ['gutted-test', 'special-case'];

/**
 * Every agent once, over the transports one after the other.
 *
 * @param turn - 0: in the fastest repository, but for one agent in each of the others. Nine turns are every combination.
 */
export function shortCombinations(turn: number): readonly Combination[] {
  const every = TRIALS.map((agent, step) => ({
    agent,
    repository: at(BY_SPEED, Math.floor(turn / TRANSPORTS.length)),
    transport: at(TRANSPORTS, step + turn),
  }));
  if (turn > 0) return every;
  const beside = BESIDE.map((agent, step) => ({
    agent,
    repository: at(BY_SPEED, step + 1),
    transport: at(TRANSPORTS, step),
  }));
  return [...every.filter(({ agent }) => !BESIDE.includes(agent)), ...beside];
}

/** `p-limit`, `p-limit/refusal`, `p-limit/refusal/acp`, `//acp`: a part that is left out stands for all. */
export function matches({ repository, agent, transport }: Combination, only: string): boolean {
  const has = [repository.name, agent, transport];
  const parts = only.split('/');
  if (parts.length === 1) return has.includes(only);
  return parts.every((part, index) => part === '' || part === has[index]);
}
