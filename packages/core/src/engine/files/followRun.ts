import type { EventRecord } from '../../state/EventStore.ts';
import { hasEnded } from '../../state/threadRecords.ts';
import type { FollowedRun } from './FollowedRun.ts';

export interface FollowOptions {
  /** `seq` of the last event that is known. @defaultValue 0, the beginning */
  readonly after?: number;
  /** Aborting it ends the loop. */
  readonly signal?: AbortSignal;
}

/** Events that are read at once. */
const PAGE = 1000;

/** The events of a run in the order they were recorded, as they arrive, until it has ended. */
export async function* followRun<Graph, State, Update>(
  id: string,
  { after = 0, signal }: FollowOptions,
  follow: () => Promise<FollowedRun<Graph, State, Update>>,
): AsyncGenerator<EventRecord, void> {
  const followed = await follow();
  try {
    for (let afterSeq = after; signal?.aborted !== true; ) {
      const seen = await followed.look(async ({ app: { store } }) => ({
        isOver: hasEnded(store.threads.require(id).status),
        events: store.log.list(id, { afterSeq, limit: PAGE }),
      }));
      yield* seen?.events ?? [];
      afterSeq = seen?.events.at(-1)?.seq ?? afterSeq;
      if (seen?.events.length === PAGE) followed.forget();
      else if (seen?.isOver === true) return;
      else await followed.next(signal);
    }
  } finally {
    followed.close();
  }
}
