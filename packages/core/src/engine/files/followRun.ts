import type { EventRecord } from '../../state/EventStore.ts';
import { hasEnded } from '../../state/threadRecords.ts';
import type { EngineStore } from '../EngineStore.ts';
import { Looks } from './Looks.ts';

export interface FollowOptions {
  /** `seq` of the last event that is known. @defaultValue 0, the beginning */
  readonly after?: number;
  /** Aborting it ends the loop. */
  readonly signal?: AbortSignal;
}

/** What one look at a run has found. */
interface Seen {
  readonly events: readonly EventRecord[];
  readonly isOver: boolean;
}

/** The events of a run in the order they were recorded, as they arrive, until it has ended. */
export async function* followRun(
  id: string,
  { after = 0, signal }: FollowOptions,
  look: (use: (store: EngineStore) => Seen) => Promise<Seen>,
): AsyncGenerator<EventRecord, void> {
  const looks = new Looks(signal);
  let afterSeq = after;
  while (signal?.aborted !== true) {
    const { events, isOver } = await look(({ threads, log }) => ({
      isOver: hasEnded(threads.require(id).status),
      events: log.list(id, { afterSeq }),
    }));
    yield* events;
    afterSeq = events.at(-1)?.seq ?? afterSeq;
    if (events.length > 0) continue;
    if (isOver) return;
    await looks.next();
  }
}
