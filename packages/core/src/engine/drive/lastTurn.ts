// The checkpoint that a turn has left is made ready for the input of the next one. The guards begin anew. Open tool calls of a
// cancelled turn are answered. Strict providers reject the messages of the next turn otherwise.
//
// An answer is a write without a task on top of the latest checkpoint, as the writes of a `Command` are. LangGraph shows such
// writes in the state. It reduces them into the channel before the input of the next turn. They are written:
//
//   with the end of the turn, if the process that ends it has the graph of the run.
//   before the input of the next turn otherwise. Answers of finished tasks are added there too, because LangGraph drops
//   the writes of an unfinished super-step.
//
// Only channels with LangGraph's messages reducer count: in another channel, a write could replace the messages.

import { type AIMessage, isBaseMessage, ToolMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import { messagesStateReducer } from '@langchain/langgraph';
import { type CheckpointTuple, type PendingWrite, uuid5 } from '@langchain/langgraph-checkpoint';
import { isOfExecution } from '../../state/steps/stepRecords.ts';
import type { Lease } from '../../state/threads/threadRecords.ts';
import { outsideGraphs } from '../execution/ambientConfig.ts';
import type { GuardedState } from '../execution/nodeExecution.ts';
import type { DrivenConfig, EngineGraph } from '../graph/EngineGraph.ts';
import { graphFingerprint } from '../graph/graphShape.ts';
import { configOf } from '../saver/checkpointConfig.ts';
import { isOutput } from '../saver/openQuestions.ts';
import type { Engine } from './Engine.ts';

/** Task id of the writes of a `Command`: LangGraph puts them into the channels before the input. */
const NO_TASK = '00000000-0000-0000-0000-000000000000';

/** The parts of an engine that know the graph of a run; a process without it leaves the answers to the next turn. */
export type GraphParts = Partial<Pick<Engine, 'graph' | 'saver' | 'shape'>>;

type AnsweringEngine = Pick<Engine, 'graph' | 'saver' | 'store'>;

/** Writes without a task on top of a checkpoint of the run, or of a graph inside it that keeps its state. */
interface Answers {
  readonly tuple: CheckpointTuple;
  readonly writes: readonly PendingWrite[];
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** Of the message that asked for it. */
  readonly askedIn: string | undefined;
}

/** When answers are written. Answers of finished tasks wait for the next turn: until then the state shows them anyway. */
type When = 'turn ends' | 'next turn begins';

/** Answers the open calls of a turn that is about to be cancelled. The returned function writes them, in the caller's transaction. */
export async function stageCancelledCalls(
  { threadId, epoch }: Lease,
  { store, graph, saver, shape }: Pick<Engine, 'store'> & GraphParts,
): Promise<() => void> {
  if (graph === undefined || saver === undefined || shape === undefined) return () => {};
  if (store.threads.require(threadId).graphFingerprint !== graphFingerprint(shape)) return () => {};
  const answers = await answersOf(threadId, { graph, saver, store }, 'turn ends');
  const staged = await Promise.all(
    answers.map(({ tuple, writes }) => {
      const { configurable } = tuple.config;
      const on = { configurable: { ...configurable, lease_thread_id: threadId, lease_epoch: epoch } };
      return saver.stageWrites(on, writesWithoutTask(tuple, writes), NO_TASK, '').then(({ write }) => write);
    }),
  );
  return () => {
    for (const save of staged) save();
  };
}

/** Answers the open calls of the cancelled turn before, in the run's own graph and in subgraphs that keep their state. */
function answersOfLastTurn(threadId: string, engine: AnsweringEngine): Promise<readonly Answers[]> {
  return answersOf(threadId, engine, 'next turn begins');
}

/** The writes without a task that are stored, then `more`: the stored ones keep their place and are not written again. */
function writesWithoutTask(
  { pendingWrites = [] }: CheckpointTuple,
  more: readonly PendingWrite[],
): PendingWrite[] {
  const there = pendingWrites.filter(([taskId, channel]) => taskId === NO_TASK && isOutput(channel));
  return [...there.map(([, channel, value]): PendingWrite => [channel, value]), ...more];
}

async function answersOf(threadId: string, engine: AnsweringEngine, when: When): Promise<readonly Answers[]> {
  const graphs = await messageGraphs(threadId, engine);
  const open = graphs.flatMap(({ tuple, channels }) =>
    channels.flatMap((channel) => {
      const calls = openCalls(messagesAt(tuple, channel));
      return calls.length === 0 ? [] : [{ tuple, channel, calls }];
    }),
  );
  if (open.length === 0) return [];
  const recorded = await recordedAnswers(threadId, engine);
  const answered = open.flatMap(({ tuple, channel, calls }) => {
    const messages = answersTo(calls, { tuple, channel, recorded, when });
    return messages.length === 0 ? [] : [{ tuple, write: [channel, messages] satisfies PendingWrite }];
  });
  return graphs.flatMap(({ tuple }) => {
    const writes = answered.filter((each) => each.tuple === tuple).map(({ write }) => write);
    return writes.length === 0 ? [] : [{ tuple, writes }];
  });
}

interface MessageGraph {
  readonly tuple: CheckpointTuple;
  readonly channels: readonly string[];
}

/** Latest checkpoints with messages: of the run, and of subgraphs that keep their state. Other subgraphs begin anew with each turn. */
async function messageGraphs(
  threadId: string,
  { graph, saver, store }: AnsweringEngine,
): Promise<readonly MessageGraph[]> {
  const inside = new Map(graph.getSubgraphs === undefined ? [] : graph.getSubgraphs(undefined, true));
  const lasting = inside.size === 0 ? [] : store.checkpoints.lastingBefore(threadId, Number.MAX_SAFE_INTEGER);
  const own = { threadId, checkpointNs: '', checkpointId: '' };
  const found = [own, ...lasting].map(async (key): Promise<readonly MessageGraph[]> => {
    const channels = messageChannels(key.checkpointNs === '' ? graph : inside.get(key.checkpointNs));
    if (channels.length === 0) return [];
    const tuple = await saver.getTuple(configOf(key));
    return tuple === undefined ? [] : [{ tuple, channels }];
  });
  return (await Promise.all(found)).flat();
}

/** LangGraph's channel of a reducer. */
interface ReducedChannel {
  readonly operator?: unknown;
}

function messageChannels(graph: Pick<EngineGraph, 'channels'> | undefined): readonly string[] {
  return Object.entries(graph?.channels ?? {})
    .filter(([, channel]) => (Object(channel) as ReducedChannel).operator === messagesStateReducer)
    .map(([name]) => name);
}

/** As the next turn finds them. */
function messagesAt(
  { checkpoint, pendingWrites = [] }: CheckpointTuple,
  channel: string,
): readonly unknown[] {
  const written = pendingWrites.filter(([taskId, name]) => taskId === NO_TASK && name === channel);
  return [checkpoint.channel_values[channel] ?? [], ...written.map(([, , value]) => value)].flat();
}

/** The open calls of the last models' messages. Calls before another message, such as a person's, cannot be answered any more. */
function openCalls(messages: readonly unknown[]): readonly OpenCall[] {
  const end = messages.slice(messages.findLastIndex((each) => !isAsking(each) && !isAnswer(each)) + 1);
  return end.flatMap((message, at) => {
    if (!isAsking(message)) return [];
    const answered = new Set(
      end.slice(at + 1).flatMap((each) => (isAnswer(each) ? [each.tool_call_id] : [])),
    );
    return (message.tool_calls ?? []).flatMap(({ id, name }) =>
      id === undefined || answered.has(id) ? [] : [{ id, name, askedIn: message.id }],
    );
  });
}

const isAsking = (message: unknown): message is AIMessage =>
  isBaseMessage(message) && message.getType() === 'ai';

const isAnswer = (message: unknown): message is ToolMessage =>
  isBaseMessage(message) && message.getType() === 'tool';

/** Recorded results of the cancelled tasks: an unfinished task has not written them to a channel. */
async function recordedAnswers(
  threadId: string,
  { graph, store }: AnsweringEngine,
): Promise<readonly ToolMessage[]> {
  const at: RunnableConfig = { configurable: { thread_id: threadId } };
  const { tasks } = await outsideGraphs(() => graph.getState(at));
  const done = store.steps
    .listForThread(threadId)
    .filter((step) => step.state === 'done' && tasks.some(({ id }) => isOfExecution(step, id)));
  const results = await Promise.all(done.map((step) => store.steps.load(step)));
  return results.filter(isAnswer);
}

interface KnownAnswers {
  readonly tuple: CheckpointTuple;
  readonly channel: string;
  readonly recorded: readonly ToolMessage[];
  readonly when: When;
}

function answersTo(
  calls: readonly OpenCall[],
  { tuple, channel, recorded, when }: KnownAnswers,
): readonly ToolMessage[] {
  const { pendingWrites = [], checkpoint } = tuple;
  const finished = pendingWrites
    .filter(([taskId, name]) => taskId !== NO_TASK && name === channel)
    .flatMap(([, , value]): readonly unknown[] => [value].flat())
    .filter(isAnswer);
  return calls.flatMap((call) => {
    const answers = (message: ToolMessage): boolean => message.tool_call_id === call.id;
    const written = finished.find(answers);
    if (written !== undefined && when === 'turn ends') return [];
    const known = written ?? recorded.find(answers);
    const id = uuid5(JSON.stringify(['cancelled', call.askedIn ?? '', call.id]), checkpoint.id);
    if (known === undefined) return [cancelledAnswer(call, id)];
    const { content, status, artifact, name = call.name, id: ownId = id } = known;
    return [
      new ToolMessage({
        content,
        artifact,
        name,
        id: ownId,
        tool_call_id: call.id,
        ...(status && { status }),
      }),
    ];
  });
}

const cancelledAnswer = ({ id: callId, name }: OpenCall, id: string): ToolMessage =>
  new ToolMessage({
    id,
    name,
    status: 'error',
    content: `The call of tool "${name}" was cancelled. Its result is not known.`,
    tool_call_id: callId,
  });

/** LangGraph's own steps between a checkpoint and the first nodes of the next input: the input's and START's. */
const STEPS_OF_INPUT = 2;

/**
 * Makes the latest checkpoint of a run ready for the input of its next turn. The guards and their channels begin anew. Open
 * tool calls of a cancelled turn are answered.
 *
 * May be repeated: a driver that died before the input was taken up has left the same.
 */
export async function onLastTurn(
  config: DrivenConfig,
  tuple: CheckpointTuple,
  engine: Pick<Engine, 'graph' | 'saver' | 'store'>,
): Promise<void> {
  const threadId = config.configurable.thread_id;
  const isCancelled = engine.store.inputs.endBefore(threadId)?.status === 'cancelled';
  const answers = isCancelled ? await answersOfLastTurn(threadId, engine) : [];
  const isOwn = (at: CheckpointTuple): boolean => at.checkpoint.id === tuple.checkpoint.id;
  const own = answers.filter((each) => isOwn(each.tuple)).flatMap(({ writes }) => writes);
  for (const each of answers) if (!isOwn(each.tuple)) await put(each.tuple, each.writes);
  await put(tuple, [...guardWrites(tuple), ...own]);

  async function put(on: CheckpointTuple, more: readonly PendingWrite[]): Promise<void> {
    if (more.length === 0) return;
    const { checkpoint_ns = '', checkpoint_id }: Readonly<Record<string, unknown>> =
      on.config.configurable ?? {};
    const at = { configurable: { ...config.configurable, checkpoint_ns, checkpoint_id } };
    await engine.saver.putWrites(at, writesWithoutTask(on, more), NO_TASK);
  }
}

function guardWrites({ metadata, pendingWrites = [] }: CheckpointTuple): readonly PendingWrite[] {
  const anew: Required<GuardedState> = {
    pendingSuspension: null,
    progressStep: (metadata?.step ?? 0) + STEPS_OF_INPUT,
  };
  const isThere = (name: string): boolean =>
    pendingWrites.some(([taskId, channel]) => taskId === NO_TASK && channel === name);
  return Object.entries(anew).filter(([name]) => !isThere(name));
}
