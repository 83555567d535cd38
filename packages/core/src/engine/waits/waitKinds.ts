import type { EventSink } from '../../events/EventBus.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import { endIsMissing } from '../../state/ChildStore.ts';
import { hasEnded } from '../../state/threadRecords.ts';
import type { Wait, WaitPurpose } from '../../state/WaitStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import { messageOf } from './message.ts';

/** Where waits are ended: one transaction of the run's driver. */
export interface WaitEnding {
  readonly store: EngineStore;
  readonly emit: EventSink['emit'];
  /** Milliseconds since the Unix epoch: what is due by then has come. */
  readonly now: number;
}

/** How a wait ends but by its time. */
interface WaitKind {
  /** Takes what has come, and tells it; the row that came, or `null`. */
  readonly take: (wait: Wait, ending: WaitEnding) => string | null;
}

/** The others end by their time alone. */
export const WAIT_KINDS: { readonly [Purpose in WaitPurpose]?: WaitKind } = {
  signal: {
    take: ({ threadId, subject }, { store, emit }) => {
      const row = store.threads.signals.takeMessage(threadId, subject ?? '');
      if (row === null) return null;
      const { name, signalId } = messageOf(row, store);
      const told = { name: maskSensitiveData(name), signalId: maskSensitiveData(signalId) };
      emit('SIGNAL_TAKEN', told, { threadId });
      return row;
    },
  },
  child: { take: ({ subject }, { store }) => takeEnd(subject ?? '', store) },
};

/**
 * Records how a child has ended, for its parent, once and for all; its id, or `null` as long as it has not.
 *
 * @throws DevsError `STATE_CORRUPT` where the checkpoint that it completed with is missing.
 */
function takeEnd(childId: string, { threads, children, checkpoints }: EngineStore): string | null {
  const { status, reason } = threads.require(childId);
  if (!hasEnded(status)) return null;
  const latest = checkpoints.loadLatest({ threadId: childId, checkpointNs: '' });
  // What a task wrote is on top of an earlier checkpoint than the one its run completed with.
  if (status === 'completed' && (latest === null || checkpoints.loadWrites(latest).length > 0))
    throw endIsMissing(childId);
  children.end(childId, { status, reason, checkpointId: latest?.checkpointId ?? null });
  return childId;
}
