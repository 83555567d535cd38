import type { RunnableConfig } from '@langchain/core/runnables';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import type { Lease, Policies, Thread } from '../../state/threads/threadRecords.ts';
import type { Engine } from '../drive/Engine.ts';
import { holdLease, releasing } from '../drive/lease.ts';
import { isOver } from '../drive/outcome.ts';
import { dumpGiven, recordedInput } from '../drive/runInput.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { acceptedPolicies } from '../gates/gatePolicies.ts';
import { asHuman, type Principal, principalText } from '../gates/principals.ts';
import { graphChanges, graphFingerprint, isOfGraph, recordedAs, recordedShape } from '../graph/graphShape.ts';
import { type DeclaredChanges, GraphMapping, notAccepted } from './GraphMapping.ts';
import { movedInput } from './movedCheckpoint.ts';
import { type GraphMove, planMove } from './planMove.ts';

/** Who accepts the graph as it is now, and what became of the names that are gone. */
export interface GraphAcceptance extends DeclaredChanges {
  readonly by: Principal;
}

/** What was accepted; no changes when the run's graph was this one already. */
export interface AcceptedGraph {
  readonly changes: readonly string[];
}

type AcceptingEngine = Pick<Engine, 'gates' | 'graph' | 'now' | 'recordedAs' | 'saver' | 'shape' | 'store'>;

/**
 * Lets a run that was started on another graph go on with this one. Its latest checkpoint is written again under the
 * new names, on top; recorded steps, open questions and their answers stay with the visit they belong to. One
 * transaction under the run's lease: a refusal changes no row.
 *
 * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a human may; `GRAPH_NOT_ACCEPTED` with its
 *   reason in the context; `THREAD_BUSY`, `THREAD_NOT_FOUND`.
 */
export async function acceptGraph(
  threadId: string,
  { by, ...declared }: GraphAcceptance,
  engine: AcceptingEngine,
): Promise<AcceptedGraph> {
  const human = asHuman(by, threadId, 'accept a changed graph for');
  const { threads } = engine.store;
  for (;;) {
    const thread = threads.require(threadId);
    const isNamed = engine.recordedAs === undefined || isOfGraph(engine.recordedAs, threadId, engine.store);
    if (isNamed && thread.graphFingerprint === graphFingerprint(engine.shape)) return { changes: [] };
    const plan = await planFor(thread, declared, engine);
    const held = await holdLease(engine.store.runs, threadId);
    const accepted = await releasing(held, async () => {
      // Claiming is a write, so refusals come before it; a run that was driven in between is looked at again.
      const isUntouched = held.lease.epoch === thread.leaseEpoch + 1;
      return isUntouched ? await commitAcceptance(plan, held.lease, human, engine) : null;
    });
    if (accepted !== null) return accepted;
  }
}

interface AcceptancePlan {
  readonly thread: Thread;
  readonly changes: readonly string[];
  /** What the run was declared with, under the new names. */
  readonly policies: Policies;
  /** Where the run stands now; `null` before its first checkpoint. */
  readonly at: RunnableConfig | null;
  readonly move: GraphMove | null;
  /** The input of its turn under the new names; `null` where it has been given. */
  readonly input: TypedBytes | null;
}

async function planFor(
  thread: Thread,
  declared: DeclaredChanges,
  engine: AcceptingEngine,
): Promise<AcceptancePlan> {
  const { threadId, status } = thread;
  const { store, saver, shape: now } = engine;
  if (isOver(status)) throw notAccepted(threadId, 'ended', `it is ${status}`);
  const before = recordedShape(thread);
  if (before === null)
    throw notAccepted(threadId, 'not_recorded', 'the names in its graph were not recorded');
  const mapping = new GraphMapping({ threadId, before, now }, declared);
  const changes = graphChanges(before, now);
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
  if (tuple === undefined) return { thread, changes, policies, at: null, move: null, input };
  const steps = store.steps.listForThread(threadId);
  // What the turn before has left goes with it as soon as the input is given.
  const standing = isDue ? { ...tuple, pendingWrites: [] } : tuple;
  const move = await planMove(standing, { threadId, before, now, mapping, steps }, engine);
  return { thread, changes, policies, at: tuple.config, move, input };
}

async function inputUnder(
  mapping: GraphMapping,
  threadId: string,
  engine: Pick<Engine, 'saver' | 'store'>,
): Promise<TypedBytes> {
  const given = await recordedInput(threadId, engine);
  return dumpGiven({ ...given, input: movedInput(given.input, mapping) }, threadId, engine.saver);
}

async function commitAcceptance(
  { thread, changes, policies, at, move, input }: AcceptancePlan,
  { epoch }: Lease,
  by: Principal,
  { store, saver, shape, recordedAs: name }: AcceptingEngine,
): Promise<AcceptedGraph> {
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
    const payload = { principal: principalText(by), changes: changes.join('; '), fingerprint };
    emit('GRAPH_ACCEPTED', payload, { threadId });
  });
  return { changes };
}

/** What hangs on LangGraph's id of a visit follows it. */
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
