import type { Lease } from '../../state/ThreadStore.ts';
import type { RunStreams } from '../stream/RunStreams.ts';
import type { DrivableGraph, DrivenConfig } from './DriverDeps.ts';

/** A call of a run's graph. */
export interface StreamedCall {
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
  { streamChannelsAsIs: channels = [] }: DrivableGraph,
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
