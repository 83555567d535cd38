import { Command } from '@langchain/langgraph';
import type { GivenAnswer } from './readAnswers.ts';

const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** Answers by interrupt id. */
type Answers = Readonly<Record<string, unknown>>;

/** What LangGraph is resumed with: `null`, which only goes on, when it has every answer already. */
export function resumeWith(given: readonly GivenAnswer[]): Command | null {
  const fresh = given.filter(({ isDelivered }) => !isDelivered);
  if (fresh.length === 0) return null;
  return new Command({
    resume: exactAnswers(Object.fromEntries(fresh.map(({ interruptId, resume }) => [interruptId, resume]))),
  });
}

/**
 * Answers that reach the interrupts they are for, and no others. LangGraph looks for an interrupt's id and, where that is
 * not found, for the id of its task's first one: an answer that a node has taken before it failed, given again, would be
 * taken by the node's next `interrupt()`, whatever that asks. The second look finds nothing here.
 */
function exactAnswers(answers: Answers): Answers {
  let isSecondLook = false;
  return new Proxy(answers, {
    has(target, id) {
      if (typeof id !== 'string' || !INTERRUPT_ID.test(id)) return Reflect.has(target, id);
      const isFound = !isSecondLook && Object.hasOwn(target, id);
      isSecondLook = !isSecondLook && !isFound;
      return isFound;
    },
  });
}
