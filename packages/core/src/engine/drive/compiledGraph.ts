// The driver's calls of a compiled LangGraph graph: config, stream, separation from other calls. Reads its state.

import type { BaseChannel } from '@langchain/langgraph';
import {
  type BaseCheckpointSaver,
  type CheckpointTuple,
  INTERRUPT,
  RESUME,
} from '@langchain/langgraph-checkpoint';
import type { Lease } from '../../state/threads/threadRecords.ts';
import { outsideGraphs } from '../execution/ambientConfig.ts';
import { engineFaultOf } from '../execution/EngineFaults.ts';
import type { DrivenConfig, EngineGraph } from '../graph/EngineGraph.ts';
import { placeOfCheckpoint, type StateAt } from '../stream/checkpointPlace.ts';
import type { RunStreams } from '../stream/RunStreams.ts';

/** A call of a run's graph. */
interface StreamedCall {
  readonly config: DrivenConfig;
  /** Resolves when all that was streamed is in the file. @throws what could not be recorded. */
  recorded(): Promise<void>;
}

const noRecording = async (): Promise<void> => {};

/**
 * What LangGraph is given so that the call is recorded as it streams: a stream around that of the graph. What the graph's
 * own stream would hold is held by nobody, so nothing grows with the run.
 */
export function streamedCall(
  { streamChannelsAsIs: channels = [] }: Pick<EngineGraph, 'streamChannelsAsIs'>,
  config: DrivenConfig,
  { lease, streams }: { readonly lease: Lease; readonly streams: RunStreams | undefined },
): StreamedCall {
  const recorder = streams?.recorder(lease, typeof channels === 'string' ? [channels] : channels) ?? null;
  if (recorder === null) return { config, recorded: noRecording };
  return {
    config: {
      ...config,
      configurable: { ...config.configurable, __pregel_stream: recorder } as DrivenConfig['configurable'],
      writer: recorder.writer,
      outputKeys: channels,
      streamMode: [],
    },
    recorded: () => recorder.settled(),
  };
}

interface ThreadConfig {
  readonly configurable: { readonly thread_id: string };
}

/** The part of a compiled LangGraph graph that tells a run's state; without metadata where there is no checkpoint. */
interface ReadableGraph<State> {
  getState(config: ThreadConfig): Promise<State>;
}

/**
 * A run's state as LangGraph tells it. What the last super-step wrote is part of it, unless the channels refuse it: such
 * a run has failed with that, and its state is that of its checkpoint.
 */
export async function readState<State>(
  graph: ReadableGraph<State>,
  config: ThreadConfig,
  saver: BaseCheckpointSaver,
): Promise<State> {
  try {
    return await graph.getState(config);
  } catch (error) {
    const tuple = engineFaultOf(error) !== null ? undefined : await saver.getTuple(config);
    if (tuple === undefined) throw error;
    const checkpoint_id: unknown = tuple.config.configurable?.['checkpoint_id'];
    return graph.getState({
      configurable: { ...config.configurable, checkpoint_id } as ThreadConfig['configurable'],
    });
  }
}

/** LangGraph's names of channels that keep their value in a super-step without a write to them. */
const LASTING_CHANNELS: ReadonlySet<string> = new Set(['LastValue', 'BinaryOperatorAggregate']);

/**
 * The values of {@link readState} at a checkpoint on which tasks have only asked. LangGraph also prepares those tasks, which takes
 * longer than the values. `null` where other channels or writes make a difference.
 *
 * @param held - Of the channels, as the checkpoint holds them.
 */
export async function valuesWhereAsked(
  { channels, streamChannelsAsIs: names }: Pick<EngineGraph, 'channels' | 'streamChannelsAsIs'>,
  { pendingWrites = [] }: Pick<CheckpointTuple, 'pendingWrites'>,
  held: () => Promise<Readonly<Record<string, unknown>> | undefined> | undefined,
): Promise<Readonly<Record<string, unknown>> | null> {
  if (names === undefined || typeof names === 'string') return null;
  const shown = names.map((name) => [name, channels[name] as BaseChannel | undefined] as const);
  const isLasting = shown.every(([, channel]) => LASTING_CHANNELS.has(channel?.lc_graph_name ?? ''));
  const hasAsked = pendingWrites.every(([, channel]) => channel === INTERRUPT || channel === RESUME);
  const values = isLasting && hasAsked ? await held() : undefined;
  if (values === undefined) return null;
  return Object.fromEntries(
    shown.flatMap(([name, channel]) => {
      const found = channel === undefined ? null : heldValue(channel.fromCheckpoint(values[name]));
      return found === null ? [] : [[name, found.value]];
    }),
  );
}

/** `null` where it is empty. */
function heldValue(channel: BaseChannel): { readonly value: unknown } | null {
  try {
    return { value: channel.get() };
  } catch (error) {
    if ((error as Error).name === 'EmptyChannelError') return null; // of a CommonJS copy, too
    throw error;
  }
}

/** A graph's values, as `read` reads them; `null` where there is no checkpoint. */
export async function readValues<State>(
  graph: unknown,
  read: (graph: ReadableGraph<ReadValues<State>>) => Promise<ReadValues<State>>,
): Promise<State | null> {
  const { values, metadata } = await outsideGraphs(() => read(graph as ReadableGraph<ReadValues<State>>));
  return metadata === undefined ? null : values;
}

/** The field of LangGraph's compiled graphs that is read here; a test compares what comes of it with LangGraph's `invoke`. */
interface GraphWithOutput {
  /** Names of the channels of its output schema; one name where its state is a single value. */
  readonly outputChannels: string | readonly string[];
}

/** Of a graph's values those of its output schema, as LangGraph's `invoke` returns them. */
export function outputOf<Output>(graph: unknown, values: unknown): Output | null {
  const { outputChannels } = graph as GraphWithOutput;
  if (values === null || typeof outputChannels === 'string') return values as Output | null;
  const there = new Map<string, unknown>(Object.entries(values as object));
  const kept = outputChannels.filter((name) => there.has(name));
  return Object.fromEntries(kept.map((name) => [name, there.get(name)])) as Output;
}

interface ReadValues<State> {
  readonly values: State;
  readonly metadata?: unknown;
}

interface ReadSnapshot extends ReadValues<unknown> {
  readonly metadata?: CheckpointTuple['metadata'];
  readonly parentConfig?: CheckpointTuple['parentConfig'];
}

/** A graph's values at a checkpoint of a run, and its place; `null` if there is no such checkpoint. */
export async function readStateAt(
  graph: unknown,
  runId: string,
  checkpointId: string,
): Promise<StateAt | null> {
  const at = { thread_id: runId, checkpoint_id: checkpointId };
  const readable = graph as ReadableGraph<ReadSnapshot>;
  const { values, ...found } = await outsideGraphs(() => readable.getState({ configurable: at }));
  if (found.metadata === undefined) return null;
  return { values, checkpoint: placeOfCheckpoint(checkpointId, found) };
}

/** Its values at a checkpoint of a run; `null` if there is no such checkpoint. */
export async function readValuesAt<State>(
  graph: unknown,
  runId: string,
  checkpointId: string | null,
): Promise<State | null> {
  if (checkpointId === null) return null;
  const at = { thread_id: runId, checkpoint_id: checkpointId };
  return readValues(graph, (readable) => readable.getState({ configurable: at }));
}
