import type { RunnableConfig } from '@langchain/core/runnables';
import { isCommand } from '@langchain/langgraph';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { isOfExecution } from '../../state/steps/stepRecords.ts';
import type { Engine } from '../drive/Engine.ts';
import { holdLease, releasing, threadBusy } from '../drive/lease.ts';
import { isOver, runError } from '../drive/outcome.ts';
import { GUARD_NAMES } from '../execution/nodeExecution.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { asHuman, type Principal, principalText } from '../gates/principals.ts';
import { RETURN_CHANNELS } from '../graph/entrypointSource.ts';
import { assertSameGraph, type GraphShape } from '../graph/graphShape.ts';
import { configOf } from '../saver/checkpointConfig.ts';
import { isOutput } from '../saver/openQuestions.ts';
import { type StagedWrite, stageUpdate, storePlacement } from './rewindTo.ts';

/** Who changes the state of a run, and in whose name. */
export interface StateUpdate {
  /** The node that would have returned the values. @defaultValue the one that LangGraph finds to have run last */
  readonly asNode?: string;
  readonly by: Principal;
}

type UpdatingEngine = Pick<Engine, 'graph' | 'saver' | 'shape' | 'store'>;

type UpdateRefusal = 'ended' | 'not_begun' | 'in_hand' | 'answer_pending' | 'not_taken';

/**
 * Writes values into the state of a run between two visits, as if a node had returned them. Its open questions are asked
 * anew, as they may show something else. Everything that can refuse it comes before the run is claimed.
 */
export async function updateRun(
  threadId: string,
  values: unknown,
  { asNode, by }: StateUpdate,
  engine: UpdatingEngine,
): Promise<RunnableConfig> {
  const human = asHuman(by, threadId, 'update the state of');
  assertUpdate(values, asNode, engine.shape);
  const { store } = engine;
  for (;;) {
    const epoch = (await assertBetween(threadId, engine)) + 1;
    await engine.saver.dumpInput(values, `the update of run "${threadId}"`, 'values');
    const staged = await stageOrRefuse(
      { threadId, epoch },
      { node: asNode, update: values as object | null },
      engine,
    );
    const held = await holdLease(store.runs, threadId);
    const isPlaced = await releasing(held, async () => {
      // A run that was driven in between is looked at again.
      if (held.lease.epoch !== epoch) return false;
      storePlacement(
        staged,
        (emit, checkpointId) => {
          assertNothingAnswered(threadId, store);
          const principal = principalText(human);
          store.threads.reopen(held.lease, 'paused', `state updated by ${principal}`);
          const payload = {
            principal,
            checkpointId,
            channels: isOfEntrypoint(engine.shape) ? RETURN_CHANNELS : Object.keys(values ?? {}),
            node: asNode ?? null,
          };
          emit('STATE_UPDATED', payload, { threadId });
          wake(threadId, checkpointId, store);
        },
        engine,
      );
      return true;
    });
    if (isPlaced) return configOf({ threadId, checkpointNs: '', checkpointId: staged.id });
  }
}

/** For whoever waits for one of its gates: it is asked anew. */
function wake(threadId: string, checkpointId: string, { threads }: EngineStore): void {
  const id = `update:${checkpointId}`;
  threads.signal(threadId, { id, kind: 'rewind', payload: null });
  threads.signals.consume(id);
}

/** @throws TypeError */
function assertUpdate(values: unknown, node: string | undefined, { nodes, channels }: GraphShape): void {
  const isValue = isOfEntrypoint({ channels });
  if (isCommand(values) || (!isValue && (typeof values !== 'object' || Array.isArray(values))))
    throw new TypeError('values: expected an object with channel values, or null');
  const engines: readonly string[] = GUARD_NAMES;
  const names = isValue ? [] : Object.keys(values ?? {});
  const other = names.find((name) => !channels.includes(name) || engines.includes(name));
  if (other !== undefined) throw new TypeError(`values: the graph has no channel "${other}"`);
  if (node !== undefined && !nodes.includes(node))
    throw new TypeError(`asNode: there is no node "${String(node)}"`);
}

/** An update of it is a return value of its function. */
const isOfEntrypoint = ({ channels }: Pick<GraphShape, 'channels'>): boolean =>
  RETURN_CHANNELS.every((name) => channels.includes(name));

/** @returns The epoch of the run's last lease: while it is the last, what was found here holds. */
async function assertBetween(
  threadId: string,
  { store, saver, graph, shape }: UpdatingEngine,
): Promise<number> {
  const thread = store.threads.require(threadId);
  const { status, leaseEpoch } = thread;
  assertSameGraph(thread, shape);
  const driver = store.threads.driverOf(threadId);
  if (driver !== null) throw threadBusy(threadId, driver, leaseEpoch);
  if (isOver(status) && status !== 'completed') throw updateRefused(threadId, 'ended', `it is ${status}`);
  const at = { configurable: { thread_id: threadId } };
  const tuple = await saver.getTuple(at);
  const latest = store.inputs.latest(threadId);
  const isBegun = latest?.turn === 1 || latest?.isTaken === true;
  if (tuple === undefined || !isBegun) throw updateRefused(threadId, 'not_begun', 'it has not started yet');
  assertNothingAnswered(threadId, store);
  const { pendingWrites = [] } = tuple;
  const { tasks } = await graph.getState(tuple.config);
  const finished = new Set(pendingWrites.filter(([, name]) => isOutput(name)).map(([task]) => task));
  // A call that threw is made again, whatever becomes of the run.
  const steps = store.steps.listForThread(threadId).filter(({ state }) => state !== 'failed');
  const begun = tasks.find(
    ({ id, name }) =>
      finished.has(id) ||
      steps.some((step) => isOfExecution(step, id)) ||
      hasInside(threadId, `${name}:${id}`, store),
  );
  if (begun !== undefined)
    throw updateRefused(threadId, 'in_hand', `node "${begun.name}" has not finished and has recorded steps`);
  return leaseEpoch;
}

const hasInside = (threadId: string, checkpointNs: string, { checkpoints }: EngineStore): boolean =>
  checkpoints.namespacesWithin({ threadId, checkpointNs }).length > 0;

/** An answer is for the visit that asked, which the update takes the place of. */
function assertNothingAnswered(threadId: string, { sessions }: EngineStore): void {
  if (sessions.listClosed(threadId).every(({ status }) => status !== 'decided')) return;
  throw updateRefused(threadId, 'answer_pending', 'a decision on one of its gates is not applied yet');
}

/** What LangGraph, a reducer or an edge makes of the values is the caller's to know. */
async function stageOrRefuse(
  lease: StagedWrite['lease'],
  placement: Parameters<typeof stageUpdate>[1],
  engine: UpdatingEngine,
): Promise<StagedWrite> {
  try {
    return await stageUpdate(lease, placement, engine);
  } catch (error) {
    if (isDevsError(error)) throw error;
    throw updateRefused(
      lease.threadId,
      'not_taken',
      `the graph rejects the update: ${runError(error).message}`,
    );
  }
}

const WAYS_OUT: Readonly<Record<UpdateRefusal, string>> = {
  ended: 'Fork the run, then update the fork.',
  not_begun: 'Execute the run first, or start a new run with the right input.',
  in_hand:
    'Resume the run until the node has finished, or fork the run and update the fork, which executes the node again.',
  answer_pending: 'Resume the run first.',
  not_taken: 'Correct the values, or set asNode to the node that would return them.',
};

const updateRefused = (threadId: string, reason: UpdateRefusal, what: string): DevsError =>
  new DevsError(`The state of run "${threadId}" was not updated: ${what}.`, {
    code: 'UPDATE_REFUSED',
    remedy: WAYS_OUT[reason],
    context: { threadId, reason },
  });
