import { type Command, UnknownInterruptError } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { type OpenQuestion, openQuestions } from '../drive/openQuestions.ts';
import { isFrameQuestion } from '../gates/question.ts';
import { childThreadsOf } from './frameContext.ts';

const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/**
 * The answers of a `Command({ resume })` by interrupt id, checked against what the frames really wait for: a bare
 * value needs exactly one question, a map must name open ones. Nothing is written.
 *
 * @throws UnknownInterruptError for an answer that no question waits for, or that several could take.
 * @throws TypeError for a command that does more than resume.
 */
export async function humanAnswersOf(
  { resume, update, goto }: Command,
  rootThread: string,
  saver: BaseCheckpointSaver,
): Promise<Map<string, unknown>> {
  const goesElsewhere = goto !== undefined && (!Array.isArray(goto) || goto.length > 0);
  if (resume === undefined || update !== undefined || goesElsewhere) {
    throw new TypeError('Expected a Command with `resume` only: each frame is controlled by its own graph.');
  }
  const pendingIds = (await waitingQuestions(rootThread, saver)).map(({ interruptId }) => interruptId);
  const answers = isAnswerMap(resume) ? Object.entries(resume) : [[onlyOne(pendingIds), resume] as const];
  const unknown = answers.map(([id]) => id).filter((id) => !pendingIds.includes(id));
  if (unknown.length > 0) {
    throw new UnknownInterruptError(`There is no open interrupt ${unknown[0]}`, {
      reason: 'not_pending',
      interruptIds: unknown,
      pendingIds,
    });
  }
  return new Map(answers);
}

/** Human questions of a thread and of the frames below it, read from the saver alone. */
async function waitingQuestions(rootThread: string, saver: BaseCheckpointSaver): Promise<OpenQuestion[]> {
  const threads = [rootThread];
  const found: OpenQuestion[] = [];
  for (const threadId of threads) {
    const tuple = await saver.getTuple({ configurable: { thread_id: threadId } });
    for (const question of tuple === undefined ? [] : openQuestions(tuple)) {
      if (isFrameQuestion(question.value)) threads.push(...childThreadsOf(question.value));
      else found.push(question);
    }
  }
  return found;
}

function onlyOne(pendingIds: readonly string[]): string {
  const [id] = pendingIds;
  if (id !== undefined && pendingIds.length === 1) return id;
  throw new UnknownInterruptError(
    `An answer without an interrupt id needs exactly one open question, found ${pendingIds.length}: answer by interrupt id`,
    { reason: 'ambiguous', pendingIds: [...pendingIds] },
  );
}

function isAnswerMap(resume: unknown): resume is Record<string, unknown> {
  if (typeof resume !== 'object' || resume === null || Array.isArray(resume)) return false;
  const ids = Object.keys(resume);
  return ids.length > 0 && ids.every((id) => INTERRUPT_ID.test(id));
}
