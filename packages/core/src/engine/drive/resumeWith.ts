import { Command } from '@langchain/langgraph';
import { exactAnswers } from '../gates/exactAnswers.ts';
import type { GivenAnswer } from './readAnswers.ts';

/** What LangGraph is resumed with: `null`, which only goes on, when it has every answer already. */
export function resumeWith(given: readonly GivenAnswer[]): Command | null {
  const fresh = given.filter(({ isDelivered }) => !isDelivered);
  if (fresh.length === 0) return null;
  return new Command({
    resume: exactAnswers(Object.fromEntries(fresh.map(({ interruptId, resume }) => [interruptId, resume]))),
  });
}
