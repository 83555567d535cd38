import type { EventSink } from '../../events/EventBus.ts';
import type { EventScope } from '../../events/events.ts';
import type { GuardStore } from '../../state/GuardStore.ts';
import { type GuardLevel, guardEvidence, isNear } from './GuardLevel.ts';

export type GuardEventName = 'GUARD_WARNED' | 'GUARD_TRIPPED' | 'GUARD_SUPPRESSED';

/** What a guard found at the end of a visit. */
export interface GuardFinding {
  readonly event: GuardEventName;
  readonly level: GuardLevel;
}

/** Where guards report to: the transaction of what they looked at. */
export interface GuardLog {
  /** `null` in plain LangGraph use: a node that runs again then reports again. */
  readonly store: { readonly guards: GuardStore } | null;
  readonly emit: EventSink['emit'];
  readonly scope: EventScope;
}

/**
 * Writes one event of a guard. Over kills and repeated executions it is written once per run, task and episode; call
 * it in the transaction that records what the guard saw.
 */
export function reportGuard({ event, level }: GuardFinding, { store, emit, scope }: GuardLog): void {
  const { threadId = '', taskId } = scope;
  const firing = [event, level.measure, taskId ?? '', level.episode].join('/');
  if (store !== null && !store.guards.recordOnce(threadId, firing)) return;
  emit(event, guardEvidence(level), scope);
}

/** The warning a level is worth, if any. */
export function warningOf(level: GuardLevel): readonly GuardFinding[] {
  return isNear(level) ? [{ event: 'GUARD_WARNED', level }] : [];
}
