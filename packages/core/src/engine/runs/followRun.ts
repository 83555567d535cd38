import type { EventRecord } from '../../state/events/EventStore.ts';
import { hasEnded } from '../../state/threads/threadRecords.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { FollowedFile } from './FollowedRun.ts';

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

const NOTHING: Seen = { events: [], isOver: false };

/** Events that are read at once. */
const PAGE = 1000;

/** The events of a run in the order they were recorded, as they arrive, until it has ended. */
export async function* followRun(
  id: string,
  { after = 0, signal }: FollowOptions,
  follow: () => Promise<FollowedFile<{ readonly store: EngineStore }>>,
): AsyncGenerator<EventRecord, void> {
  const followed = await follow();
  try {
    for (let afterSeq = after; signal?.aborted !== true; ) {
      const read = async ({ store }: { readonly store: EngineStore }): Promise<Seen> => ({
        isOver: hasEnded(store.threads.require(id).status),
        events: store.log.list(id, { afterSeq, limit: PAGE }),
      });
      const { events, isOver } = (await followed.look(read)) ?? NOTHING;
      yield* events;
      afterSeq = events.at(-1)?.seq ?? afterSeq;
      if (events.length === PAGE) followed.forget();
      else if (isOver) return;
      else await followed.next(signal);
    }
  } finally {
    followed.close();
  }
}
