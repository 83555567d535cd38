import { hasEnded } from '../../state/threadRecords.ts';
import type { EngineStore } from '../EngineStore.ts';

/** Records how a child has ended, for its parent, once and for all; its id, or `null` as long as it has not. */
export function takeEnd(childId: string, { threads, children, checkpoints }: EngineStore): string | null {
  const { status, reason } = threads.require(childId);
  if (!hasEnded(status)) return null;
  const checkpointId = checkpoints.loadLatest({ threadId: childId, checkpointNs: '' })?.checkpointId ?? null;
  children.end(childId, { status, reason, checkpointId });
  return childId;
}
