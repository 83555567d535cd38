// A graph of LangGraph as the driver calls it: the config of a call, the stream around it, and its separation from other calls.

import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { Lease } from '../../state/threads/threadRecords.ts';
import type { GuardedState } from '../execution/channels.ts';
import type { DrivenConfig, EngineGraph } from '../graph/EngineGraph.ts';
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

/** What a `Command` writes without a task: LangGraph puts it into the channels before the input. */
const NO_TASK = '00000000-0000-0000-0000-000000000000';

/** LangGraph's own steps between a checkpoint and the first nodes of the next input: the input's and START's. */
const STEPS_OF_INPUT = 2;

/**
 * Makes the latest checkpoint of a run ready for the input of its next turn: the guards begin anew with it, and no question
 * of the turn before is left in their channels.
 *
 * May be repeated: a driver that died before the input was taken up has left the same.
 */
export async function onLastTurn(
  config: DrivenConfig,
  { checkpoint, metadata }: CheckpointTuple,
  saver: BaseCheckpointSaver,
): Promise<void> {
  const anew: Required<GuardedState> = {
    pendingSuspension: null,
    progressStep: (metadata?.step ?? 0) + STEPS_OF_INPUT,
  };
  const at = { configurable: { ...config.configurable, checkpoint_ns: '', checkpoint_id: checkpoint.id } };
  await saver.putWrites(at, Object.entries(anew), NO_TASK);
}
