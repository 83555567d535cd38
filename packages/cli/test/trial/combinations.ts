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

/** Every agent once, every transport and every such repository several times; others in every turn. */
export function shortCombinations(turn: number): readonly Combination[] {
  return TRIALS.map((agent, step) => ({
    agent,
    repository: at(LOCAL_REPOSITORIES, step + Math.floor(turn / TRANSPORTS.length)),
    transport: at(TRANSPORTS, step + Math.floor(step / TRANSPORTS.length) + turn),
  }));
}

/** `p-limit`, `p-limit/refusal`, `p-limit/refusal/acp`, `//acp`: a part that is left out stands for all. */
export function matches({ repository, agent, transport }: Combination, only: string): boolean {
  const has = [repository.name, agent, transport];
  const parts = only.split('/');
  if (parts.length === 1) return has.includes(only);
  return parts.every((part, index) => part === '' || part === has[index]);
}
