import { DevsError } from '@devs/core';
import { maskStart } from '@devs/core/internal';

/** Characters of an agent's own words in an error. */
const SHOWN = 2_000;

/** Words of an agent's as an error may have them: masked, from their beginning. */
export const shown = (text: string): string => maskStart(text, SHOWN).trim();

/** An agent that could not be asked. @param what - For people; words of its own are masked and cut. */
export function agentFault(name: string, what: string, cause?: unknown): DevsError {
  return new DevsError(`${name} ${what.trim()}`, {
    code: 'AGENT_FAILED',
    remedy: 'Call it once by hand to see that it is logged in and answers, then resume the run.',
    context: { agent: name },
    cause,
  });
}

/** An agent that answered, with nothing that can be used. */
export function uselessAnswer(name: string, stage: string, problem: string): DevsError {
  return new DevsError(`${name} gave no valid answer for the stage ${stage}: ${shown(problem)}`, {
    code: 'AGENT_INVALID_OUTPUT',
    remedy: 'Resume the run to ask again, or give this stage to a more capable agent.',
    context: { agent: name, stage },
  });
}

/** How a process ended. */
export const exitWords = (code: number | null): string =>
  code === null ? 'was ended by a signal' : `ended with exit code ${code}`;
