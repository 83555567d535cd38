import { interrupt } from '@langchain/langgraph';
import { answerFor, type Question } from './question.ts';

/**
 * Asks a human and returns the answer meant for this question; suspends the run until there is one.
 *
 * An answer for another question, or one `parse` refuses, leaves the question open: it is asked again under
 * a new interrupt. Throwing instead would store the bad answer and replay it on every resume.
 *
 * @param parse - Returns the answer, or `null` when it is not one. Must not read the clock or the database:
 *   the node's body runs again on every resume.
 */
export function ask<Answer>(question: Question, parse: (value: unknown) => Answer | null): Answer {
  for (;;) {
    const own = answerFor(question.key, interrupt<Question, unknown>(question));
    const answer = own === null ? null : parse(own.value);
    if (answer !== null) return answer;
  }
}
