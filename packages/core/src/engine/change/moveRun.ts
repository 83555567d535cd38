// A run under another graph: the plan of its move, and the one transaction that writes it.

import type { RunnableConfig } from '@langchain/core/runnables';
import type { EventSink } from '../../events/events.ts';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import type { Lease, Policies, Thread } from '../../state/threads/threadRecords.ts';
import type { Engine } from '../drive/Engine.ts';
import { dumpGiven, recordedInput } from '../drive/runInput.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { acceptedPolicies } from '../gates/gatePolicies.ts';
import { type GraphShape, graphFingerprint, recordedAs } from '../graph/graphShape.ts';
import type { GraphMapping } from './GraphMapping.ts';
import { movedInput } from './movedCheckpoint.ts';
import { type GraphMove, planMove } from './planMove.ts';

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
