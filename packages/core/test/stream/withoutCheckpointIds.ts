import type { LastingEvent } from '../../src/engine/stream/StreamEvent.ts';

/** The ids of checkpoints are others in every run. */
export function withoutCheckpointIds(event: LastingEvent): object {
  if (!('checkpoint' in event) || event.checkpoint === undefined) return event;
  const { step, source } = event.checkpoint;
  return { ...event, checkpoint: { step, source } };
}
