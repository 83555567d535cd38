// Reads a run again after each change: its log, and its status.

import { News } from '../../events/News.ts';
import type { EventRecord } from '../../state/events/EventStore.ts';
import { hasEnded } from '../../state/threads/threadRecords.ts';
import type { RunDetails } from '../drive/RunResult.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { type ReadableFile, readDetails } from './standing.ts';

/** A look at a run's file, which is closed afterwards. */
export interface FileLook<File> {
  readonly file: File;
  /** For the next look, which is `null` if the file is the same. */
  readonly at: string;
  close(): void;
}

/** Where a followed run is. */
interface FollowedPlace<File> {
  /** Calls `tell` soon after the run changed. Returns a function that ends it. */
  watch(tell: () => void): Promise<() => void>;
  /** @param at - The `at` of the look before; `null` for the first. */
  look(at: string | null): Promise<FileLook<File> | null>;
}

/** A run that is looked at whenever something of it is new. Close it when done. */
export interface FollowedFile<File> {
  /** `null` if the file is as at the last look. @throws DevsError `THREAD_NOT_FOUND`, `STATE_IO` */
  look<T>(use: (file: File) => Promise<T>): Promise<T | null>;
  /** Whether something may be new since the last look. */
  isNews(): boolean;
  /** The next look is at the run whether or not something of it is new. */
  forget(): void;
  /** Lets `next` resolve, although the file may be unchanged. */
  wake(): void;
  /** Resolves when something may be new since the last look, after `atMostMs`, or when `signal` is aborted. */
  next(signal: AbortSignal | undefined, atMostMs?: number): Promise<void>;
  close(): void;
}

/** As its last change recorded it, or as it is once its driver has taken what it was told. */
export type SeenAs = 'recorded' | 'told';

/** @throws DevsError `STATE_IO` where it cannot be reached. */
export async function followedFile<File>(place: FollowedPlace<File>): Promise<FollowedFile<File>> {
  const news = new News();
  let at: string | null = null;
  let isNews = true;
  const end = await place.watch(() => {
    isNews = true;
    news.tell();
  });
  return {
    look: async (use) => {
      isNews = false;
      const look = await place.look(at);
      if (look === null) return null;
      try {
        at = look.at;
        return await use(look.file);
      } finally {
        look.close();
      }
    },
    isNews: () => isNews,
    forget: () => {
      at = null;
      isNews = true;
    },
    wake: () => news.tell(),
    next: (signal, atMostMs) => news.next(atMostMs, signal),
    close: () => end(),
  };
}

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

/** Until it stands elsewhere (`null`), or so many milliseconds. */
export type Waits<Output> = (standing: RunDetails<Output>) => 'done' | number | null;

/** Where a run stands once it is `done`, or `signal` is aborted; it is followed no more then. */
export async function followRunInfo<Output>(
  id: string,
  followed: FollowedFile<ReadableFile>,
  { signal, waits }: { readonly signal: AbortSignal | undefined; readonly waits: Waits<Output> },
): Promise<RunDetails<Output>> {
  try {
    let standing: RunDetails<Output> | null = null;
    for (;;) {
      standing = (await followed.look((file) => readDetails<Output>(id, file))) ?? standing;
      if (standing === null) continue;
      const wait = waits(standing);
      if (wait === 'done' || signal?.aborted === true) return standing;
      await followed.next(signal, wait ?? undefined);
    }
  } finally {
    followed.close();
  }
}
