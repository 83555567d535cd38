import type { GraphProfile, StateUpdate } from './GraphProfile.ts';

/** How the runner reads a graph it knows nothing about: no tasks, and only `progress()` is progress. */
export function ownGraphProfile<State extends object>(): GraphProfile<State> {
  return {
    withoutEntryQuestion: new Set(),
    gates: {},
    taskIdOf: () => null,
    projectIdOf: (_state, threadId) => threadId,
    suspensionEvidence: (_state, { sessionId, node }) => ({ sessionId, node }),
    applyAnswer: (_state, question, answer) => ({
      update: question.kind === 'recursion_limit' ? {} : ({ pendingSuspension: null } as StateUpdate<State>),
      runNode: (answer as { action?: string }).action !== 'skip',
    }),
    isProgress: () => false,
    // An author's own retry policy is not read here.
    willRetry: () => false,
    findings: () => [],
    announce: () => {},
  };
}
