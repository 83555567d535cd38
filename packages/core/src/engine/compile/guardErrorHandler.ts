import { GraphDrained, type LangGraphRunnableConfig, type NodeError } from '@langchain/langgraph';
import { newEventsOf } from '../../events/EventBus.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { EngineStore } from '../EngineStore.ts';
import { type RaisedSuspension, readGuards, writeGuards } from '../execution/channels.ts';
import { faultInside } from '../execution/EngineFaults.ts';
import { guardsIn, type NodeExecution, nodeExecutionOf } from '../execution/nodeExecution.ts';
import { asThrowable } from '../execution/thrown.ts';
import { answerWithAuthor } from '../gates/answers.ts';
import type { NodeUpdate } from '../graph/GraphProfile.ts';
import type { NodeEngine } from '../graph/NodeEngine.ts';
import { depthOf } from '../node/depth.ts';
import { guardsAmong, mergedState, NodeOutput, withoutGuards } from '../node/nodeOutput.ts';
import type { NodeFunction } from '../node/runNode.ts';
import { callOf, type NodeRunnable } from './callOf.ts';

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
  engine: NodeEngine<State>,
): ErrorHandler<State> {
  return async (state, error, config) => {
    const visit = { ...nodeExecutionOf(error.node, config), guards: readGuards(config) };
    try {
      const taken = answerTaken(state, visit, engine);
      const own = withoutGuards(taken, engine.profile);
      const after = mergedState(state, own);
      const output = new NodeOutput(await handler(after, error, config));
      announceAnswer(state, after, visit, engine);
      const value = output.toReturn({ before: own });
      writeGuards(config, guardsAmong(taken, engine.profile));
      return value;
    } catch (failure) {
      throw whatLeavesTheHandler(failure, visit, engine);
    }
  };
}

/** Where LangGraph tells an error handler what its node threw; a test compares it with the installed version. */
const NODE_ERROR = '__pregel_node_error';

/** {@link guardErrorHandler} for the node that LangGraph adds for a handler of one node: it is told the error in its config. */
export function guardHandlerNode<State extends object>(
  runnable: NodeRunnable,
  engine: NodeEngine<State>,
): NodeFunction<State> {
  const call = callOf(runnable);
  const guarded = guardErrorHandler<State>((state, _error, config) => call(state, config), engine);
  return (state, config) => guarded(state, config.configurable?.[NODE_ERROR] as NodeError, config);
}

/** LangGraph would store a fault of the engine as the handler's own error; the handler has to run again instead. */
function whatLeavesTheHandler<State>(
  failure: unknown,
  visit: NodeExecution,
  { faults, profile }: NodeEngine<State>,
): unknown {
  const thrown = asThrowable(failure);
  const fault = faultInside(thrown, visit, profile.surroundings);
  if (fault === null) return thrown;
  faults.put(visit.threadId, fault);
  return new GraphDrained(fault.code);
}

/** What follows from the answer: no later node tells it, because each begins with a state that has it. */
function announceAnswer<State extends object>(
  before: State,
  after: State,
  visit: NodeExecution,
  { runs, profile }: NodeEngine<State>,
): void {
  const scope = { threadId: visit.threadId };
  runs.note(
    visit,
    newEventsOf((emit) => profile.announce(before, after, emit, scope)),
  );
}

/** An error leaves a node that has passed its entry, so a question that was due there has its answer. */
function answerTaken<State extends object>(
  state: State,
  visit: NodeExecution,
  { profile, runs, store, maxDepth }: NodeEngine<State>,
): NodeUpdate<State> {
  const progress = { progressStep: visit.step } as NodeUpdate<State>;
  if (profile.withoutEntryQuestion.has(visit.node)) return runs.humanDecided(visit) ? progress : {};
  const { pendingSuspension } = guardsIn(state, visit);
  if (!pendingSuspension) {
    const wasAskedForDepth = !depthOf(state, visit, maxDepth).isAllowed;
    return wasAskedForDepth || runs.humanDecided(visit) ? progress : {};
  }
  const session = store === null ? null : decidedSession(pendingSuspension, visit, store);
  if (session === null || session.decision === null) return {};
  const question = { ...pendingSuspension, artifactHash: session.artifactHash ?? '' };
  return { ...profile.applyAnswer(state, question, answerWithAuthor(session)).update, ...progress };
}

/** A failure gate's session was there before its question; that of a review has the question's key. */
function decidedSession(
  { sessionId, kind }: RaisedSuspension,
  { threadId }: NodeExecution,
  { sessions }: EngineStore,
): HitlSession | null {
  const isIts = ({ questionKey }: HitlSession): boolean => questionKey === sessionId;
  return sessions.find(sessionId) ?? sessions.listDecided(threadId, kind).findLast(isIts) ?? null;
}
