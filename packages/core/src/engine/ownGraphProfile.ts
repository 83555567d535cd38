import type { RaisedSuspension } from './channels.ts';
import type { AgentAction } from './entropy/ReadTurn.ts';
import type { EntropyOptions } from './entropy/scoreEntropy.ts';
import type { GraphProfile, NodeUpdate } from './GraphProfile.ts';
import { ENGINE_GATES } from './gates/engineGates.ts';

export interface OwnGraphGuards<State> {
  readonly entropy?: ((state: State) => readonly AgentAction[]) | null;
  readonly polling?: EntropyOptions['polling'];
}

/** How the runner reads a graph it knows nothing about: no tasks, and only `progress()` is progress. */
export function ownGraphProfile<State extends object>({
  entropy = null,
  polling,
}: OwnGraphGuards<State> = {}): GraphProfile<State> {
  return {
    rules: ENGINE_GATES,
    withoutEntryQuestion: new Set(),
    gates: {},
    taskIdOf: () => null,
    projectIdOf: (_state, threadId) => threadId,
    suspensionEvidence: (_state, suspension) => suspensionArtifact(suspension),
    suspensionMessage: stuckMessage,
    turnsOf: entropy,
    ...(polling && { polling }),
    due: () => [],
    applyAnswer: (_state, question, answer) => ({
      update: question.kind === 'recursion_limit' ? {} : ({ pendingSuspension: null } as NodeUpdate<State>),
      runNode: (answer as { action?: string }).action !== 'skip',
    }),
    isProgress: () => false,
    // An author's own retry policy is not read here.
    willRetry: () => false,
    findings: () => [],
    announce: () => {},
  };
}

/** What a human reads when a run of an own graph was suspended. */
export function suspensionArtifact({ sessionId, node, entropy }: RaisedSuspension) {
  return { sessionId, node, ...(entropy && { entropy }) };
}

/** Its question: it has no tasks, its author named the nodes. */
export const stuckMessage = ({ node }: RaisedSuspension): string => `Node "${node}" makes no progress.`;
