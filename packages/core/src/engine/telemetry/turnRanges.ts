import type { EventRecord } from '../../state/events/EventStore.ts';
import type { RunRecord } from './RunRecord.ts';

/** A turn, and its part of the log. */
export interface TurnRange {
  /** From 1. */
  readonly number: number;
  readonly key: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly begunAt: number;
  /** Its last event. */
  readonly toSeq: number;
  readonly end: EventRecord;
  readonly isOpen: boolean;
  /** How it ended; `null` before. */
  readonly outcome: string | null;
}

const isEnd = (event: EventRecord): event is EventRecord<'RUN_FINISHED'> => event.name === 'RUN_FINISHED';

/** A failed run that is resumed ends its turn again: the last end counts. At least one turn, if the log has an event. */
export function turnRanges({ log, turns }: Pick<RunRecord, 'log' | 'turns'>): readonly TurnRange[] {
  const [first] = log;
  const last = log.at(-1);
  if (first === undefined || last === undefined) return [];
  const ends = log.filter(isEnd);
  // A turn that began after the last event is not in this part of the log.
  const begun = turns.filter(({ begunAt }, at) => at === 0 || begunAt < last.at);
  return begun.map(({ number, key, begunAt }, at) => {
    const next = begun[at + 1];
    const own = ends.findLast(({ payload }) => (payload.turn ?? null) === key);
    const isOpen = next === undefined && (own === undefined || hasGoneOn(own, log));
    const before = next && log.findLast((event) => event.at < next.begunAt);
    const end: EventRecord = isOpen ? last : (own ?? before ?? first);
    return {
      ...{ number, key, begunAt, end, isOpen, toSeq: next === undefined ? last.seq : end.seq },
      outcome: isOpen || own === undefined ? null : own.payload.outcome,
    };
  });
}

/** A failed run was resumed. */
const hasGoneOn = (end: EventRecord, log: readonly EventRecord[]): boolean =>
  log.some(({ seq, name }) => seq > end.seq && (name === 'NODE_STARTED' || name === 'RUN_RECOVERED'));
