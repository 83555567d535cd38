import type { EventScope } from '../../events/events.ts';
import type { Fact } from '../../events/Fact.ts';
import { type GuardLevel, guardEvidence, isNear } from './GuardLevel.ts';

export type GuardEventName = 'GUARD_WARNED' | 'GUARD_TRIPPED' | 'GUARD_SUPPRESSED';

/** What a guard found at the end of a visit. */
export interface GuardFinding {
  readonly event: GuardEventName;
  readonly level: GuardLevel;
}

/** The event of a guard. Over kills and repeated executions it is told once per run, task and episode. */
export function guardFact({ event, level }: GuardFinding, scope: EventScope): Fact {
  const once = [event, level.measure, scope.taskId ?? '', level.episode].join('/');
  return { name: event, payload: guardEvidence(level), scope, once };
}

/** The warning a level is worth, if any. */
export function warningOf(level: GuardLevel): readonly GuardFinding[] {
  return isNear(level) ? [{ event: 'GUARD_WARNED', level }] : [];
}
