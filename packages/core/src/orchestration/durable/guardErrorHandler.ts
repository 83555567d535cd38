import type { LangGraphRunnableConfig, NodeError } from '@langchain/langgraph';
import { depthContext, guardsOf, type StateUpdate } from './GraphProfile.ts';
import { NodeOutput } from './nodeOutput.ts';
import type { RunnerDeps } from './RunnerDeps.ts';
import { type Visit, visitOf } from './visit.ts';

/** LangGraph's error handler of a graph: what a node threw, after its retries. */
export type ErrorHandler<State> = (
  state: State,
  error: NodeError,
  config: LangGraphRunnableConfig,
) => unknown;

/**
 * Wraps an error handler so that the answer its node was given before it threw is not lost: the handler starts from
 * the checkpoint, which does not have it, and the human would be asked again.
 */
export function guardErrorHandler<State extends object>(
  handler: ErrorHandler<State>,
  deps: RunnerDeps<State>,
): ErrorHandler<State> {
  return async (state, error, config) => {
    const taken = answerTaken(state, visitOf(error.node, config), deps);
    const output = new NodeOutput(await handler({ ...state, ...taken }, error, config));
    return output.map((update, isFirst) => (isFirst ? { ...taken, ...update } : update));
  };
}

/** An error leaves a node that has passed its entry, so a question that was due there has its answer. */
function answerTaken<State extends object>(
  state: State,
  visit: Visit,
  { profile, store, maxDepth }: RunnerDeps<State>,
): StateUpdate<State> {
  if (profile.withoutEntryQuestion.has(visit.node)) return {};
  const progress = { progressStep: visit.step } as StateUpdate<State>;
  const { pendingSuspension } = guardsOf(state);
  if (!pendingSuspension) {
    return depthContext(state, visit).metadata.recursionDepth >= maxDepth ? progress : {};
  }
  const answer = store?.sessions.find(pendingSuspension.sessionId)?.decision ?? null;
  if (answer === null) return {};
  return { ...profile.applyAnswer(state, pendingSuspension, answer).update, ...progress };
}
