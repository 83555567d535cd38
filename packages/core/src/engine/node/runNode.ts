// Every node of a durable graph passes through here: Thought, work, Action. The Thought is on disk before the work with `sync`
// durability; with `async`, before anything leaves the run, or once the event loop has turned.
//
//   enter   at most one question of a guard · the node's declared gate · fence, journal "Thought"
//   work    the node; model and tool calls are durable steps
//   leave   mask · entropy gate · journal "Action"
//   commit  LangGraph writes the output through SqliteSaver, under the same lease, and the Action with it
//
// Invariants:
//   R1. A question is asked before any work of its visit, and its condition comes from the checkpoint alone:
//       the body runs again on every resume and must reach the same question.
//   R2. A guard looks at output that is already returned; the next node's entry asks (commit first, then suspend).
//   R3. An engine fault leaves the node as GraphDrained: no retry, no error handler, the task stays pending. So does
//       an agent of the pipeline out of reach, once it was retried, and a result that cannot be stored, which ends the run
//       as failed. Every other error is the node's own, whoever has thrown it.

import type { RunnableConfig } from '@langchain/core/runnables';
import {
  GraphDrained,
  GraphInterrupt,
  INTERRUPT,
  isGraphBubbleUp,
  isGraphInterrupt,
  isInterrupted,
  isParentCommand,
  type LangGraphRunnableConfig,
  type ParentCommand,
} from '@langchain/langgraph';
import { isDevsError } from '../../errors/DevsError.ts';
import { type NewEvent, newEventsOf } from '../../events/events.ts';
import type { NodeTurn } from '../../state/RunStore.ts';
import type { TurnType } from '../../state/types.ts';
import { makeLasting } from '../../values/lasting.ts';
import { noteEntered } from '../execution/driveContext.ts';
import { engineFaultOf, faultInside, RefusedResult } from '../execution/EngineFaults.ts';
import {
  type NodeExecution,
  nodeExecutionOf,
  readGuards,
  writeChannels,
  writeGuards,
} from '../execution/nodeExecution.ts';
import { asThrowable, describeThrown } from '../execution/thrown.ts';
import { holdNode, nodeSliceMs, shouldYield, yieldToEventLoop } from '../execution/yieldToEventLoop.ts';
import { ENGINE_GATES } from '../gates/engineGates.ts';
import { GraphSuspendedSignal } from '../gates/GraphSuspendedSignal.ts';
import type { AnyGate } from '../gates/parsedGates.ts';
import { isQuestion, type Question } from '../gates/question.ts';
import type { NodeEngine, NodeUpdate } from '../graph/NodeEngine.ts';
import { type GuardFinding, type GuardLevel, guardFact } from '../guards/lattice.ts';
import { ActiveNode } from './ActiveNode.ts';
import { pendingCalls } from './askDeclared.ts';
import { diedAt, neverEnds } from './crashPoint.ts';
import { type Depth, depthWarnings } from './depth.ts';
import { runInNode } from './nodeContext.ts';
import {
  type ChannelWrite,
  decidedWrites,
  EntrypointOutput,
  fieldsOf,
  guardsAmong,
  mergedState,
  NodeOutput,
  withoutGuards,
} from './nodeOutput.ts';
import { askAtEntry, type Entered, suspendIfStuck, towardsGoal } from './nodeQuestions.ts';
import { openSessions, withInnerBreakpoints } from './openSessions.ts';
import { withRecordedTasks } from './recordedTasks.ts';
import { withToolCalls } from './toolCalls.ts';
import { WithheldAnswers } from './WithheldAnswers.ts';

export type NodeFunction<State> = (state: State, config: LangGraphRunnableConfig) => unknown;

export interface GuardedNode<State> {
  readonly name: string;
  readonly run: NodeFunction<State>;
  readonly gate: AnyGate<State> | null;
  /** Of an entrypoint: it returns a value. @defaultValue false: an update */
  readonly returnsValue?: boolean;
  /** The graph's state as the super-step began, whatever the node is given; `null` outside a graph. */
  readonly stateAt: (config: LangGraphRunnableConfig) => State | null;
  /** The state with what this node writes, as the graph's reducers merge it. */
  readonly fold: (state: State, writes: readonly ChannelWrite[]) => State;
  /** Whether a channel takes several writes of one task. */
  readonly reduces: (channel: string) => boolean;
}

/** Wraps a node so that the engine's promises hold around it. */
export function guardNode<State extends object>(
  node: GuardedNode<State>,
  engine: NodeEngine<State>,
): NodeFunction<State> {
  return async (state, config) => {
    const visit = { ...nodeExecutionOf(node.name, config), guards: readGuards(config) };
    // Before anything is looked at: the drive may end meanwhile.
    while (shouldYield(nodeSliceMs(visit.threadId))) await yieldToEventLoop();
    engine.runs.assertDriven(visit);
    noteEntered();
    const letGo = holdNode(visit.threadId);
    try {
      return await executeNode(node, state, config, { visit, engine });
    } catch (error) {
      const thrown = asThrowable(error);
      const left = await withInnerBreakpoints(thrown, config, visit, engine).catch((fault: unknown) => fault);
      throw await whatLeavesTheNode(left, state, visit, engine);
    } finally {
      letGo();
    }
  };
}

interface NodeContext<State> {
  readonly visit: NodeExecution;
  readonly engine: NodeEngine<State>;
}

async function executeNode<State extends object>(
  node: GuardedNode<State>,
  state: State,
  config: LangGraphRunnableConfig,
  { visit, engine }: NodeContext<State>,
): Promise<unknown> {
  const entered = towardsGoal(askAtEntry(node, state, visit, engine), state, visit, engine);
  const own = withoutGuards(entered.update, engine.profile);
  const entering = mergedState(state, own);
  const decided = entriesOfUpdate(entered.decided);
  const before = decided.length === 0 ? entering : node.fold(entering, decided);
  const thought = { state: before, depth: entered.depth };
  await engine.runs.whenFree(() => recordThought(visit, thought, engine));

  const startedAt = engine.now();
  const {
    left,
    progressed: hasProgressed,
    notes,
  } = entered.runNode
    ? await runBody(throughGate(node, entered), before, config, { visit, engine })
    : { left: {}, progressed: false, notes: [] };
  const outputOf = (raw: unknown): NodeOutput =>
    node.returnsValue ? new EntrypointOutput(raw) : new NodeOutput(raw);
  const output = outputOf(left.handedUp ? left.handedUp.command : left.returned);

  const progressed =
    hasProgressed ||
    entered.answered ||
    engine.profile.isProgress(before, output.update as Partial<State>) ||
    engine.runs.humanDecided(visit);
  const after =
    engine.profile.turnsOf === null
      ? mergedState(before, output.update)
      : node.fold(mergedState(node.stateAt(config) ?? state, own), [...decided, ...output.writes]);
  const suspended = await suspendIfStuck(output.metadata, after, visit, engine);

  const stamped: NodeUpdate<State> = { ...entered.update, ...(progressed && { progressStep: visit.step }) };
  const { beside, within } = decidedWrites(decided, output, node.reduces);
  const result = output.toReturn({
    before: { ...withoutGuards(stamped, engine.profile), ...within },
    after: withoutGuards(suspended.update, engine.profile),
  });
  const findings = [...engine.profile.findings(before, after), ...suspended.findings];
  // The event loop must not turn here: a branch that fails meanwhile would cost this one its output.
  if (isCutOff(visit)) throw new GraphDrained('aborted'); // its output has no place any more
  const written = writtenOf(outputOf(result), engine.profile);
  recordAction(visit, { before: state, output: written, startedAt, findings, notes }, engine);
  writeChannels(config, beside);
  writeGuards(config, guardsAmong({ ...stamped, ...suspended.update }, engine.profile));
  if (left.handedUp === undefined) return result;
  left.handedUp.command = result as ParentCommand['command'];
  throw left.handedUp;
}

const throughGate = <State>(node: GuardedNode<State>, { through }: Entered<State>): GuardedNode<State> =>
  through === undefined
    ? node
    : { ...node, run: through(node.run as NodeFunction<never>) as NodeFunction<State> };

function writtenOf<State>(written: NodeOutput, { isImmutable }: NodeEngine<State>['profile']): NodeOutput {
  if (isImmutable) for (const [, value] of written.writes) makeLasting(value);
  return written;
}

const entriesOfUpdate = (update: object | undefined): readonly ChannelWrite[] => Object.entries(update ?? {});

/** The node's own work; again for an answer that was held back until the node asked for it. */
async function runBody<State extends object>(
  node: GuardedNode<State>,
  state: State,
  config: LangGraphRunnableConfig,
  { visit, engine }: NodeContext<State>,
): Promise<WorkDone> {
  const runOnce = async (changed: Readonly<Record<string, unknown>> | null) => {
    const own =
      changed === null ? config : { ...config, configurable: { ...config.configurable, ...changed } };
    const taskId = engine.profile.taskIdOf(state, visit.node);
    const active = new ActiveNode({ visit, taskId, config: own }, engine);
    engine.streams?.of(visit.lease)?.taskBegins({ id: visit.lgTaskId, node: visit.node, step: visit.step });
    const body = () => node.run(state, withRecordedTasks(withToolCalls(own, active.unrecorded)));
    if (diedAt(`before node ${node.name}`)) await neverEnds();
    const left = await executeBody(active, body).then(returned, handedUp);
    if (diedAt(`after node ${node.name}`)) await neverEnds();
    const notes = active.unrecorded.facts(visit, active.stepNames, () => pendingCalls(state));
    return { left, progressed: active.progressed, notes };
  };
  const held = WithheldAnswers.of(config, visit.attempt);
  return held === null ? runOnce(null) : held.confirmed(runOnce);
}

interface WorkDone {
  readonly left: Left;
  readonly progressed: boolean;
  readonly notes: readonly NewEvent[];
}

/** How a node was left: with what it returned, or with a command that a graph inside it hands up to this one. */
interface Left {
  readonly returned?: unknown;
  readonly handedUp?: ParentCommand;
}

const returned = (value: unknown): Left => ({ returned: value });

function handedUp(thrown: unknown): Left {
  const error = asThrowable(thrown);
  if (!isParentCommand(error as Error)) throw error;
  return { handedUp: error as ParentCommand };
}

/**
 * Runs the node's body. It is left only when the calls it began are recorded, and with the question of a call that was
 * not made, or its waits, whatever its author made of that.
 */
async function executeBody(active: ActiveNode, body: () => unknown): Promise<unknown> {
  const ran = runInNode(active, async () => body());
  const thrown: unknown = await ran.then(
    () => undefined,
    (error: unknown) => {
      active.hasThrown = true;
      return error; // thrown below
    },
  );
  if (!active.visit.signal.aborted) await active.calls.settled();
  const left = active.close(thrown);
  if (left !== null) throw left;
  return ran;
}

async function whatLeavesTheNode<State extends object>(
  error: unknown,
  state: State,
  visit: NodeExecution,
  engine: NodeEngine<State>,
): Promise<unknown> {
  const { runs } = engine;
  try {
    const left = isGraphInterrupt(error) ? await asking(error, state, visit, engine) : error;
    if (isGraphBubbleUp(left as Error)) return left;
    if (isCutOff(visit)) return new GraphDrained('aborted');
    const fault = faultInside(left, visit, engine.profile.surroundings);
    if (fault !== null) return drainWith(fault, visit, engine);
    await runs.whenFree(() => recordFailure(left, visit, engine));
    const isLeft =
      isOutOfReach(left, visit, engine) || (left instanceof RefusedResult && visit.epoch !== null);
    return isLeft ? drainWith(left, visit, engine) : left;
  } catch (failure) {
    if (isCutOff(visit)) return new GraphDrained('aborted');
    return drainWith(engineFaultOf(failure) ?? failure, visit, engine);
  }
}

/** Its drive has been aborted: it may be over, and another one in hand. */
const isCutOff = ({ signal, isDraining }: NodeExecution): boolean => signal.aborted && isDraining();

/** The questions on record; what cannot be asked is the node's own failure. */
function asking<State extends object>(
  { interrupts }: GraphInterrupt,
  state: State,
  visit: NodeExecution,
  engine: NodeEngine<State>,
): Promise<unknown> {
  return engine.runs
    .whenFree(() => new GraphInterrupt(openSessions(interrupts, state, visit, engine)))
    .catch((refusal: unknown) => refusal);
}

/** An agent that could not be asked, after its retries: neither another attempt nor a pivot brings it back. */
function isOutOfReach<State>(
  error: unknown,
  { attempt }: NodeExecution,
  { profile }: NodeEngine<State>,
): boolean {
  const isTold = profile.surroundings !== undefined && isDevsError(error, 'AGENT_FAILED');
  return isTold && !profile.willRetry(error, attempt);
}

function drainWith<State>(fault: unknown, visit: NodeExecution, { faults }: NodeEngine<State>): unknown {
  faults.put(visit.threadId, fault);
  return new GraphDrained(isDevsError(fault) ? fault.code : 'fault');
}

/** The part of a compiled graph that `invokeGuarded` uses. */
export interface InvokableGraph<State> {
  invoke(input: unknown, config: RunnableConfig): Promise<State>;
}

/**
 * Invokes a graph in plain LangGraph use, and tells a run that was handed to a human from one that goes on or ended.
 *
 * @throws GraphSuspendedSignal (no `Error`) when the run stands at the question of a failure or depth gate.
 */
export async function invokeGuarded<State>(
  graph: InvokableGraph<State>,
  input: unknown,
  config: RunnableConfig,
): Promise<State> {
  const result = await graph.invoke(input, config);
  for (const question of questionsIn(result)) {
    if (question.kind !== 'task_failure' && question.kind !== 'recursion_limit') continue;
    throw new GraphSuspendedSignal(question.taskId, question.key);
  }
  return result;
}

function questionsIn(result: unknown): readonly Question[] {
  if (!isInterrupted(result)) return [];
  return result[INTERRUPT].map(({ value }) => value).filter((value) => isQuestion(value, ENGINE_GATES));
}

interface BegunTurn<State> {
  readonly state: State;
  readonly depth: Depth;
}

/** Before the work: fence, event and the journal's Thought in one transaction. */
function recordThought<State extends object>(
  visit: NodeExecution,
  { state, depth }: BegunTurn<State>,
  engine: NodeEngine<State>,
): void {
  const scope = nodeScope(visit, state, engine);
  const payload = { node: visit.node, attempt: visit.attempt, visit: visit.lgTaskId };
  const started: NewEvent = { name: 'NODE_STARTED', payload, scope };
  const facts = [started, ...depthWarnings(depth, visit, scope)];
  engine.runs.enter(visit, turnOf('Thought', { visit, state, facts }, engine));
}

interface FinishedTurn<State> {
  readonly before: State;
  readonly output: NodeOutput;
  readonly startedAt: number;
  /** Findings of guards in the node's output. */
  readonly findings: readonly GuardFinding[];
  /** Further events of its work. */
  readonly notes: readonly NewEvent[];
}

/** After the work: fence, events and the journal's Action, in the transaction of what LangGraph writes of the task. */
function recordAction<State extends object>(
  visit: NodeExecution,
  { before, output, startedAt, findings, notes }: FinishedTurn<State>,
  engine: NodeEngine<State>,
): void {
  const state = mergedState(before, output.update);
  const durationMs = engine.now() - startedAt;
  const scope = nodeScope(visit, state, engine);
  const changes = newEventsOf((emit) => engine.profile.announce(before, state, emit, scope));
  const payload = { node: visit.node, durationMs, visit: visit.lgTaskId };
  const finished: NewEvent = { name: 'NODE_FINISHED', payload, scope };
  const facts = [...changes, ...findings.map((finding) => guardFact(finding, scope)), ...notes, finished];
  engine.runs.leave(visit, turnOf('Action', { visit, state, facts }, engine));
}

/** A node threw: an event that says whether it is tried again. */
export function recordFailure<State>(
  error: unknown,
  visit: NodeExecution,
  { runs, profile }: NodeEngine<State>,
): void {
  const { node, attempt, threadId, lgTaskId } = visit;
  const scope = { threadId };
  const { message } = describeThrown(error);
  const about = { node, message, visit: lgTaskId };
  if (profile.willRetry(error, attempt)) {
    runs.note(visit, [{ name: 'RETRIED', payload: { ...about, attempt }, scope }]);
    return;
  }
  const level: GuardLevel = {
    measure: 'attempts',
    level: attempt,
    limit: attempt,
    episode: lgTaskId,
    evidence: { node, message },
  };
  const isSpent = attempt > 1 && profile.willRetry(error, attempt - 1);
  runs.note(visit, [
    { name: 'NODE_FAILED', payload: about, scope },
    ...(isSpent ? [guardFact({ event: 'GUARD_TRIPPED', level }, scope)] : []),
  ]);
}

interface NodeReport<State> {
  readonly visit: NodeExecution;
  readonly state: State;
  readonly facts: readonly NewEvent[];
}

function turnOf<State extends object>(
  turnType: TurnType,
  { visit, state, facts }: NodeReport<State>,
  { profile, newId, now }: NodeEngine<State>,
): NodeTurn {
  const { threadId, node, lgTaskId } = visit;
  const taskId = profile.taskIdOf(state, node);
  const entry = {
    id: newId(),
    graphId: threadId,
    nodeName: node,
    turnType,
    state: fieldsOf(state),
    taskId: taskId ?? profile.projectIdOf(state, threadId),
    createdAt: new Date(now()),
    visit: lgTaskId,
  };
  return { entry, taskId, facts };
}

const nodeScope = <State>(
  { threadId, node }: NodeExecution,
  state: State,
  { profile }: NodeEngine<State>,
) => ({
  threadId,
  taskId: profile.taskIdOf(state, node),
});
