import { AGENTS, MISSING_TOOL, type TrialName } from './agents.ts';
import type { Repository } from './Repository.ts';
import { REPOSITORIES } from './repositories.ts';
import type { Combination } from './runTrial.ts';
import { SITUATIONS } from './situations/situations.ts';
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
  const ofAgents = Array.from({ length: all }, (_, step) => ({
    repository: at(REPOSITORIES, step + turn),
    agent: at(TRIALS, step + turn),
    transport: at(TRANSPORTS, step + turn),
  }));
  return [...everySituation(), ...ofAgents];
}

/** Each in the repository whose own check takes the least. */
export const everySituation = (): readonly Combination[] =>
  SITUATIONS.map(({ name, transport }) => ({ agent: name, transport, repository: at(BY_SPEED, 0) }));

/** The repositories that need nothing but this workspace. */
export const LOCAL_REPOSITORIES: readonly Repository[] = REPOSITORIES.filter(
  ({ local }) => local !== undefined,
);

/** The first: the checks of `node --test` take the least, those of Vitest the most. */
export const BY_SPEED: readonly Repository[] = ['node-test', 'fast-json-stable-stringify', 'vitest'].map(
  (wanted) => LOCAL_REPOSITORIES.find(({ name }) => name === wanted) as Repository,
);

/**
 * Every agent once, over the transports one after the other, in one repository.
 *
 * @param turn - Nine turns are every combination.
 */
export function turnOf(turn: number): readonly Combination[] {
  return TRIALS.map((agent, step) => ({
    agent,
    repository: at(BY_SPEED, Math.floor(turn / TRANSPORTS.length)),
    transport: at(TRANSPORTS, step + turn),
  }));
}

/**
 * One agent for each place where work is found to be wrong or cannot be: the tests, a reviewer, the check before the work,
 * the answer itself; one whose setup says nothing for a while, one whose tool is missing. Each transport is among them;
 * the repositories and the other situations are, with their own tools, in the long form.
 */
export const SHORT: readonly Combination[] = (
  [
    ['gutted-test', 'http'],
    ['special-case', 'http'],
    ['red-baseline', 'http'],
    ['refusal', 'acp'],
    ['no-test', 'command'],
    [MISSING_TOOL, 'http'],
    ['crlf', 'http'],
    ['silent-cli', 'command'],
  ] as const
).map(([agent, transport]) => ({ agent, transport, repository: at(BY_SPEED, 0) }));

/** `p-limit`, `p-limit/refusal`, `p-limit/refusal/acp`, `//acp`: a part that is left out stands for all. */
export function matches({ repository, agent, transport }: Combination, only: string): boolean {
  const has = [repository.name, agent, transport];
  const parts = only.split('/');
  if (parts.length === 1) return has.includes(only);
  return parts.every((part, index) => part === '' || part === has[index]);
}
