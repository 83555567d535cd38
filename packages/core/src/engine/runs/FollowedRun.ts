import { News } from '../../events/News.ts';

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
  /** The next look is at the run whether or not something of it is new. */
  forget(): void;
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
  const end = await place.watch(() => news.tell());
  return {
    look: async (use) => {
      const look = await place.look(at);
      if (look === null) return null;
      try {
        at = look.at;
        return await use(look.file);
      } finally {
        look.close();
      }
    },
    forget: () => {
      at = null;
    },
    next: (signal, atMostMs) => news.next(atMostMs, signal),
    close: () => end(),
  };
}
