import type { InterruptedQuestion } from '../gates/HitlSessionStore.ts';

export const HASH = 'a'.repeat(64);
export const OTHER_HASH = 'b'.repeat(64);

/** A question as LangGraph suspends on it; a test names only the fields it is about. */
export function aQuestion(overrides: Partial<InterruptedQuestion> = {}): InterruptedQuestion {
  return {
    threadId: 'run-1',
    interruptId: 'i-1',
    questionKey: 'design_approval/lg-1',
    kind: 'design_approval',
    taskId: 'run-1',
    artifactHash: HASH,
    question: { message: 'Approve?', artifact: { documents: [] } },
    checkpointId: 'c-1',
    ...overrides,
  };
}
