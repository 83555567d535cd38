import { DevsError } from '@devs/core';
import { maskStart } from '@devs/core/internal';

/** Characters of an agent's own words in an error. */
const SHOWN = 2_000;

/** Words of an agent's as an error may have them: masked, from their beginning. */
export const maskedExcerpt = (text: string): string => maskStart(text, SHOWN).trim();

/** An agent that could not be asked. @param what - For people; words of its own are masked and cut. */
export function agentFault(name: string, what: string, cause?: unknown): DevsError {
  return new DevsError(`${name} ${what.trim()}`, {
    code: 'AGENT_FAILED',
    remedy: 'Run the agent once by hand to check that it is logged in, then resume the run.',
    context: { agent: name },
    cause,
  });
}

/** An agent that answered, with nothing that can be used. */
export function uselessAnswer(name: string, stage: string, problem: string): DevsError {
  return new DevsError(
    `${name} did not return a valid answer for the stage ${stage}: ${maskedExcerpt(problem)}`,
    {
      code: 'AGENT_INVALID_OUTPUT',
      remedy: 'Resume the run to ask again, or use a more capable agent for this stage.',
      context: { agent: name, stage },
    },
  );
}

/** How a process ended. */
export const formatExit = (code: number | null): string =>
  code === null ? 'was ended by a signal' : `ended with exit code ${code}`;
