// A run under another graph. The plan of the move finds the pending nodes and keeps their work. One transaction writes it.

import { isDeepStrictEqual } from 'node:util';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  type Checkpoint,
  type CheckpointTuple,
  MemorySaver,
  type PendingWrite,
  uuid5,
} from '@langchain/langgraph-checkpoint';
import type { DevsError } from '../../errors/DevsError.ts';
import type { EventSink } from '../../events/events.ts';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import { isOfExecution, type StepSummary } from '../../state/steps/stepRecords.ts';
import type { Lease, Policies, Thread } from '../../state/threads/threadRecords.ts';
import type { Engine } from '../drive/Engine.ts';
import { dumpGiven, recordedInput } from '../drive/runInput.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { acceptedPolicies } from '../gates/gatePolicies.ts';
import { interruptIds, isFrameQuestion } from '../gates/question.ts';
import type { EngineGraph } from '../graph/EngineGraph.ts';
import { type GraphShape, graphFingerprint, recordedAs } from '../graph/graphShape.ts';
import { isOutput, openQuestions } from '../saver/openQuestions.ts';
import type { SqliteSaver, StagedCheckpoint } from '../saver/SqliteSaver.ts';
import { type ChangedShape, type GraphMapping, notAccepted, triggersOf } from './GraphMapping.ts';
import { dueIn, type MovedTuple, movedInput, movedTuple } from './movedCheckpoint.ts';

/** The change to accept, and the record of the run. */
interface MoveRequest extends ChangedShape {
  readonly mapping: GraphMapping;
  readonly steps: readonly StepSummary[];
  /** The turn has ended, and the next one is not recorded. @defaultValue false */
  readonly isBetweenTurns?: boolean;
}

/** The changes with which the run goes on under the new names. */
interface GraphMove {
  readonly staged: StagedCheckpoint;
  readonly visits: readonly MovedNode[];
}

/** A visit that has been begun, with everything that belongs to it. */
interface MovedNode {
  readonly visit: KnownNode;
  /** Questions it waits for, and those of its own that are answered. */
  readonly interruptIds: readonly string[];
  /** Questions that were answered to it and are shared with other visits. */
  readonly sessionIds: readonly string[];
}

type KnownNode = PendingNode & { readonly oldTaskId: string };

/**
 * What accepting the change means for where the run stands; `null` when nothing there has an old name. Writes nothing.
 *
 * @throws DevsError `GRAPH_NOT_ACCEPTED` if something that is recorded or due would be lost.
 */
async function planMove(
  tuple: CheckpointTuple,
  change: MoveRequest,
  { graph, saver, now }: Pick<Engine, 'graph' | 'now' | 'saver'>,
): Promise<GraphMove | null> {
  const nextVersion = (current: number | undefined): number => saver.getNextVersion(current);
  if (change.isBetweenTurns === true) {
    const ended = movedTuple({ ...tuple, pendingWrites: [] }, change.mapping, { nextVersion, now });
    return ended === null ? null : { staged: stagedOf(ended, tuple, []), visits: [] };
  }
  assertDue(tuple, change, graph);
  // LangGraph drops the values of channels that a graph lacks: only new names need a new checkpoint.
  const moved = change.mapping.isRenaming ? movedTuple(tuple, change.mapping, { nextVersion, now }) : null;
  const visits = await pendingNodes(graph, moved?.checkpoint ?? tuple.checkpoint, tuple, change.mapping);
  const isBegun = begunIn(tuple, change);
  const isFinished = finishedIn(tuple);
  for (const visit of visits.filter((each) => !isFinished(each))) {
    assertSameKind(visit, change);
    if (isBegun(visit)) assertSameGate(visit, change);
  }
  if (moved === null) return null;

  const movable = visits
    .map((visit) => knownNode(visit, change))
    .filter(isBegun)
    .map((visit) => planMovedNode(visit, tuple, change));
  assertEveryWriteMoves(movable, tuple, change);
  for (const { visit } of movable) if (!isFinished(visit)) await assertNoSubgraph(visit, change, saver);
  return { staged: stagedOf(moved, tuple, movable), visits: movable };
}

function stagedOf(
  { checkpoint, outputs }: MovedTuple,
  tuple: CheckpointTuple,
  visits: readonly MovedNode[],
): StagedCheckpoint {
  const writes = visits.map(({ visit: { node, taskId, oldTaskId } }) => ({
    taskId,
    taskPath: `~__pregel_pull, ${node}`,
    values: outputs
      .filter(([id]) => id === oldTaskId)
      .map(([, channel, value]): PendingWrite => [channel, value]),
  }));
  // Not the end of a super-step: what is due here stays due.
  const metadata = { step: -1, parents: {}, ...tuple.metadata, source: 'fork' } as const;
  return { checkpoint, metadata, newVersions: newVersions(tuple, checkpoint), writes };
}

/** Values under a name that is new in this checkpoint; all others are stored. */
function newVersions(
  { checkpoint: before }: CheckpointTuple,
  moved: Checkpoint,
): StagedCheckpoint['newVersions'] {
  const versions = Object.entries(moved.channel_versions);
  return Object.fromEntries(versions.filter(([name, version]) => before.channel_versions[name] !== version));
}

/** Whatever makes a node run must make a node run in the new graph too: LangGraph passes over names it does not know. */
function assertDue(tuple: CheckpointTuple, { threadId, mapping }: MoveRequest, graph: EngineGraph): void {
  const { triggers, sentTo } = dueIn(tuple);
  for (const trigger of triggers) {
    const to = mapping.channel(trigger);
    if (to !== null && Object.hasOwn(graph.channels, to)) continue;
    throw pending(threadId, `"${trigger}" is due, but no node is left to execute`);
  }
  for (const node of sentTo) {
    if (mapping.node(node) === node && Object.hasOwn(graph.nodes, node)) continue;
    throw pending(threadId, `a branch sent to node "${node}" has not ended`);
  }
}

function begunIn(
  { pendingWrites = [] }: CheckpointTuple,
  { steps }: MoveRequest,
): (visit: PendingNode) => boolean {
  const begun = new Set<string | null>(pendingWrites.map(([taskId]) => taskId));
  return ({ oldTaskId: id }) =>
    begun.has(id) || (id !== null && steps.some((step) => isOfExecution(step, id)));
}

/** It is not executed again. */
function finishedIn({ pendingWrites = [] }: CheckpointTuple): (visit: PendingNode) => boolean {
  const finished = new Set(pendingWrites.filter(([, name]) => isOutput(name)).map(([taskId]) => taskId));
  return ({ oldTaskId: id }) => id !== null && finished.has(id);
}

/** Runs of older releases do not record which of their nodes were graphs. */
function assertSameKind({ node, oldNode }: PendingNode, { threadId, before, now }: MoveRequest): void {
  if (before.subgraphs === undefined) return;
  const [was, is] = [before.subgraphs.includes(oldNode), now.subgraphs?.includes(node) === true];
  if (was === is) return;
  throw pending(threadId, `node "${oldNode}", which is due, ${is ? 'became' : 'is no longer'} a subgraph`);
}

/** What belongs to a visit is found under the id it had. */
function knownNode({ oldTaskId, ...visit }: PendingNode, { threadId }: MoveRequest): KnownNode {
  if (oldTaskId === null) throw pending(threadId, `node "${visit.oldNode}" was started as a branch`);
  return { ...visit, oldTaskId };
}

/** Its answers are distinguished by position in the visit, and a gate is a promise about all of the node's work. */
function assertSameGate({ node, oldNode }: PendingNode, { threadId, before, now }: MoveRequest): void {
  const [was, is] = [gatesAt(oldNode, before.gates), gatesAt(node, now.gates)];
  if (isDeepStrictEqual(was, is)) {
    const answers = gatesAt(node, now.answers ?? {});
    for (const [gate, form] of gatesAt(oldNode, before.answers ?? {})) {
      if (form === (answers.get(gate) ?? form)) continue;
      throw notAccepted(threadId, 'gate_changed', `gate "${oldNode}${gate}" takes another form of answer`);
    }
    return;
  }
  const had = was.size === 0 ? 'without a gate' : 'at a gate';
  throw notAccepted(threadId, 'gate_changed', `node "${oldNode}" was started ${had}, unlike "${node}"`);
}

/** The gates before a node and before nodes of a graph in it, by what follows its name. */
function gatesAt(node: string, gates: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const own = Object.entries(gates).filter(([name]) => name === node || name.startsWith(`${node}:`));
  return new Map(own.map(([name, kind]) => [name.slice(node.length), kind]));
}

function planMovedNode(
  visit: KnownNode,
  tuple: CheckpointTuple,
  { threadId, steps }: MoveRequest,
): MovedNode {
  const { oldNode, oldTaskId } = visit;
  const unfinished = steps.find((step) => isOfExecution(step, oldTaskId) && step.state !== 'done');
  if (unfinished !== undefined) {
    const why = `step "${unfinished.name}" of node "${oldNode}" was started and has no result: it would be repeated with another key`;
    throw notAccepted(threadId, 'call_in_flight', why);
  }
  const own = (tuple.pendingWrites ?? []).filter(([id]) => id === oldTaskId);
  const open = openQuestions({ ...tuple, pendingWrites: own });
  if (open.some(({ value }) => isFrameQuestion(value))) {
    throw pending(threadId, `node "${oldNode}" waits for a graph inside it`);
  }
  const answers = own.filter(([, channel]) => channel === '__resume__').flatMap(([, , value]) => value);
  return {
    visit,
    interruptIds: [
      ...interruptIds(oldNode, oldTaskId, answers.length),
      ...open.map(({ interruptId }) => interruptId),
    ],
    sessionIds: answers.flatMap(sessionIdOf),
  };
}

function sessionIdOf(answer: unknown): readonly string[] {
  const sessionId = (answer as { readonly sessionId?: unknown } | null)?.sessionId;
  return typeof sessionId === 'string' ? [sessionId] : [];
}

/** An error with a handler that is due, and writes without a visit in the new graph, would be left behind. */
function assertEveryWriteMoves(
  moved: readonly MovedNode[],
  { pendingWrites = [] }: CheckpointTuple,
  { threadId }: MoveRequest,
): void {
  const known = new Set(moved.map(({ visit }) => visit.oldTaskId));
  for (const [taskId, channel] of pendingWrites) {
    if (channel === '__error_source_node__') throw pending(threadId, 'an error handler is due');
    if (!known.has(taskId) && channel !== '__resume__') throw pending(threadId, 'a branch has not ended');
  }
}

/** A graph inside a node has checkpoints under the node's name and task. */
async function assertNoSubgraph(
  { oldNode, oldTaskId }: KnownNode,
  { threadId }: MoveRequest,
  saver: SqliteSaver,
): Promise<void> {
  const configurable = { thread_id: threadId, checkpoint_ns: `${oldNode}:${oldTaskId}` };
  if ((await saver.getTuple({ configurable })) === undefined) return;
  throw pending(threadId, `a graph inside node "${oldNode}" has not ended`);
}

function pending(threadId: string, why: string): DevsError {
  return notAccepted(threadId, 'pending_visit', why);
}

/** A visit that a checkpoint leads to, begun or not. */
interface PendingNode {
  readonly node: string;
  readonly oldNode: string;
  /** LangGraph's task id: under the graph as it is now, and under the one that wrote the checkpoint. */
  readonly taskId: string;
  /** `null` where it cannot be known: a branch made by `Send`, in a checkpoint that is written anew. */
  readonly oldTaskId: string | null;
}

/** What the graph would do next at `checkpoint`, which need not be stored; tasks that have finished included. */
async function pendingNodes(
  graph: EngineGraph,
  checkpoint: Checkpoint,
  { checkpoint: stored, metadata }: CheckpointTuple,
  mapping: GraphMapping,
): Promise<readonly PendingNode[]> {
  const preview = new MemorySaver();
  const configurable = { thread_id: 'preview', checkpoint_ns: '' };
  await preview.put({ configurable }, checkpoint, metadata ?? { source: 'loop', step: -1, parents: {} });
  const { tasks } = await graph.getState({
    configurable: { ...configurable, __pregel_checkpointer: preview },
  });
  const step = (metadata?.step ?? -1) + 1;
  return tasks.map(({ id, name }) => {
    const trigger = triggersOf(name, Object.keys(graph.channels)).find(
      (channel) => taskIdOf({ node: name, trigger: channel, step }, checkpoint.id) === id,
    );
    const oldNode = mapping.oldNode(name);
    const old = trigger === undefined ? null : { node: oldNode, trigger: mapping.oldTrigger(trigger), step };
    const unknown = checkpoint.id === stored.id ? id : null;
    return { node: name, oldNode, taskId: id, oldTaskId: old === null ? unknown : taskIdOf(old, stored.id) };
  });
}

interface Task {
  readonly node: string;
  readonly trigger: string;
  readonly step: number;
}

/**
 * LangGraph's id of a task of the root graph. LangGraph does not export a function for it. Its own id of a task of the new
 * graph is compared with this one, and a task that has another id is not touched.
 */
function taskIdOf({ node, trigger, step }: Task, checkpointId: string): string {
  return uuid5(JSON.stringify([node, String(step), node, '__pregel_pull', [trigger]]), checkpointId);
}

export type MovingEngine = Pick<
  Engine,
  'gates' | 'graph' | 'now' | 'recordedAs' | 'saver' | 'shape' | 'store'
>;

export interface RunMove {
  readonly thread: Thread;
  /** The run's policies under the new names. */
  readonly policies: Policies;
  /** Where the run stands now; `null` before its first checkpoint. */
  readonly at: RunnableConfig | null;
  readonly move: GraphMove | null;
  /** The input of its turn under the new names; `null` where it has been given. */
  readonly input: TypedBytes | null;
}

/** The graph that a run was on, and the way from its names to those of this one. */
interface MovedFrom {
  readonly before: GraphShape;
  readonly mapping: GraphMapping;
  /** See `planMove`. @defaultValue false */
  readonly isBetweenTurns?: boolean;
}

/**
 * Plans the move of a run to this graph, from where it stands. Only reads.
 *
 * @throws DevsError `GRAPH_NOT_ACCEPTED` if something that is recorded or due would be lost; `INVALID_INPUT` for a gate
 *   without possible deciders.
 */
export async function planRunMove(
  thread: Thread,
  { before, mapping, isBetweenTurns = false }: MovedFrom,
  engine: MovingEngine,
): Promise<RunMove> {
  const { threadId } = thread;
  const { store, saver, shape: now } = engine;
  const renamed = (gate: string): string | null => mapping.gate(gate);
  const names = new Set(Object.keys(before.gates).flatMap((gate) => renamed(gate) ?? []));
  const policies = acceptedPolicies(thread.policies, {
    threadId,
    before: names,
    gates: engine.gates,
    renamed,
  });
  const tuple = await saver.getTuple({ configurable: { thread_id: threadId } });
  const latest = store.inputs.latest(threadId);
  const isDue = tuple === undefined || (latest !== null && latest.turn > 1 && !latest.isTaken);
  const input = isDue ? await inputUnder(mapping, threadId, engine) : null;
  if (tuple === undefined) return { thread, policies, at: null, move: null, input };
  const steps = store.steps.listForThread(threadId);
  // The rest of the turn before goes as soon as the input is given.
  const standing = isDue ? { ...tuple, pendingWrites: [] } : tuple;
  const move = await planMove(standing, { threadId, before, now, mapping, steps, isBetweenTurns }, engine);
  return { thread, policies, at: tuple.config, move, input };
}

async function inputUnder(
  mapping: GraphMapping,
  threadId: string,
  engine: Pick<Engine, 'saver' | 'store'>,
): Promise<TypedBytes> {
  const given = await recordedInput(threadId, engine);
  return dumpGiven({ ...given, input: movedInput(given.input, mapping) }, threadId, engine.saver);
}

/** Writes a move under the lease of its run, with the events of `say`, in one transaction. @throws DevsError `LEASE_LOST` */
export async function commitRunMove(
  { thread, policies, at, move, input }: RunMove,
  { epoch }: Lease,
  say: (emit: EventSink['emit'], fingerprint: string) => void,
  { store, saver, shape, recordedAs: name }: MovingEngine,
): Promise<void> {
  const { threadId } = thread;
  const configurable = { ...at?.configurable, lease_thread_id: threadId, lease_epoch: epoch };
  const save = move === null ? null : await saver.stage({ configurable }, move.staged);
  const fingerprint = graphFingerprint(shape);
  store.commitUnder({ threadId, epoch }, (emit) => {
    save?.();
    if (move !== null) moveNodes(threadId, move, store);
    if (input !== null) store.inputs.replace(threadId, input);
    store.threads.updatePolicies(threadId, { ...policies, graph: shape, ...recordedAs(name) });
    store.threads.setFingerprint(threadId, fingerprint);
    say(emit, fingerprint);
  });
}

/** Rows that hang on LangGraph's id of a visit follow it. */
function moveNodes(
  threadId: string,
  { staged, visits }: GraphMove,
  { steps, waits, sessions }: EngineStore,
): void {
  const checkpointId = staged.checkpoint.id;
  for (const { visit, interruptIds, sessionIds } of visits) {
    const { node, oldTaskId: visitId, taskId: toVisitId } = visit;
    steps.moveVisit({ threadId, visitId, toVisitId, node });
    waits.moveVisit({ threadId, visitId, toVisitId });
    sessions.carry({ threadId, toVisitId, checkpointId, interruptIds, sessionIds });
  }
}
