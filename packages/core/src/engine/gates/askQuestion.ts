import { interrupt } from '@langchain/langgraph';
import { asEngineQuestion, type DeliveredAnswer, isAnswerTo, type Question } from './question.ts';

export interface QuestionOptions {
  /** Whether the answer of this session was withdrawn: what it was given for had changed. @defaultValue none was */
  readonly isVoid?: (sessionId: string) => boolean;
}

/**
 * Asks a human and returns the answer meant for this question, and given for what it shows; suspends the run until there
 * is one.
 *
 * An answer for another question, for something else than what is shown now, or one `parse` refuses, leaves the question
 * open: it is asked again under a new interrupt. Throwing instead would store the bad answer and replay it on every
 * resume.
 *
 * @param parse - Returns the answer, or `null` when it is not one. Must not read the clock or the database:
 *   the node's body runs again on every resume.
 */
export function askQuestion<Answer>(
  question: Question,
  parse: (value: unknown) => Answer | null,
  { isVoid = () => false }: QuestionOptions = {},
): Answer {
  for (;;) {
    const given = interrupt<Question, unknown>(asEngineQuestion(question));
    if (!isAnswerTo(question, given) || isVoid((given as Partial<DeliveredAnswer>).sessionId ?? '')) continue;
    const answer = parse(given.value);
    if (answer !== null) return answer;
  }
}
