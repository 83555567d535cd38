import type { Wait } from '../../state/WaitStore.ts';
import { WAIT_KINDS, type WaitEnding } from './waitKinds.ts';

/**
 * Ends a wait with what has come for it, else with its time; returns it as it is then. What has come goes first, however
 * late: a run that nobody drove for a week does not lose what it was told in that week.
 */
export function endWait(wait: Wait, ending: WaitEnding): Wait {
  const { store, emit, now } = ending;
  const { threadId, purpose, dueAt, state } = wait;
  if (state !== 'pending') return wait;
  const metBy = WAIT_KINDS[purpose]?.take(wait, ending) ?? null;
  if (metBy !== null) store.waits.meet(wait, metBy);
  else if (dueAt !== null && store.waits.fire(wait, now))
    emit('TIMER_FIRED', { purpose, dueAt: new Date(dueAt).toISOString() }, { threadId });
  return store.waits.find(wait) ?? wait;
}
