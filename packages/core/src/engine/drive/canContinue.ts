import { hasEnded } from '../../state/threadRecords.ts';
import type { DueCriteria } from '../../state/WaitStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import { ASKED_TO_STOP } from './drainOnAbort.ts';

/** Whether driving a run whose child this is leads anywhere: the child has ended, or can go on and nobody drives it. */
export function canContinue(childId: string, since: DueCriteria, store: EngineStore): boolean {
  const { threads, waits } = store;
  const { status, reason, wakeSeq, handledSeq } = threads.require(childId);
  if (hasEnded(status)) return true;
  if (threads.driverOf(childId) !== null) return false;
  if (status === 'paused') return reason === ASKED_TO_STOP;
  if (status !== 'waiting') return true;
  return wakeSeq > handledSeq || waits.isDue(childId, since) || hasContinuableChild(childId, since, store);
}

/** Whether one of the runs that a run waits for can go on. */
export const hasContinuableChild = (parentId: string, since: DueCriteria, store: EngineStore): boolean =>
  store.children.awaitedBy(parentId).some((id) => canContinue(id, since, store));
