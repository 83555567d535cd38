import { RECURSION_WARNING_RATIO } from '../../config/defaults.ts';
import type { EventScope, GuardEvidence } from '../../events/events.ts';
import type { NewEvent } from '../../events/NewEvent.ts';
import { maskView } from '../../masking/maskView.ts';
import { guardOf, type Measure } from './lattice.ts';

/** What a guard measured, and why. */
export interface GuardLevel {
  readonly measure: Measure;
  readonly level: number;
  readonly limit: number;
  /**
   * Tells one firing from the next of the same measure and task: the same when a node runs again, another one once
   * the count has started anew.
   */
  readonly episode: string;
  /** Plain JSON a human can follow. */
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** Measures that are no whole numbers. */
const FRACTIONAL: ReadonlySet<Measure> = new Set(['entropy', 'usd']);

/** From which level a guard warns: 80 % of its limit, of whole numbers rounded up. */
export function warningLevel(measure: Measure, limit: number): number {
  const share = limit * RECURSION_WARNING_RATIO;
  return FRACTIONAL.has(measure) ? Number(share.toPrecision(12)) : Math.ceil(share);
}

/** Whether a level is worth a warning: near its limit and still below it. */
export function isNear({ measure, level, limit }: GuardLevel): boolean {
  return level < limit && level >= warningLevel(measure, limit);
}

/** The payload of a guard's event, masked. */
export function guardEvidence({ measure, level, limit, evidence }: GuardLevel): GuardEvidence {
  const shown = maskView(evidence) as GuardLevel['evidence'];
  return { guard: guardOf(measure), measure, level, limit, evidence: shown };
}

type GuardEventName = 'GUARD_WARNED' | 'GUARD_TRIPPED' | 'GUARD_SUPPRESSED';

/** What a guard found at the end of a visit. */
export interface GuardFinding {
  readonly event: GuardEventName;
  readonly level: GuardLevel;
}

/** The event of a guard. Over kills and repeated executions it is told once per run, task and episode. */
export function guardFact({ event, level }: GuardFinding, scope: EventScope): NewEvent {
  const once = [event, level.measure, scope.taskId ?? '', level.episode].join('/');
  return { name: event, payload: guardEvidence(level), scope, once };
}

/** The warning a level is worth, if any. */
export function warningOf(level: GuardLevel): readonly GuardFinding[] {
  return isNear(level) ? [{ event: 'GUARD_WARNED', level }] : [];
}
