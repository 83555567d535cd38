import { setTimeout as sleep } from 'node:timers/promises';
import { endingWith } from '@devs/core/internal';
import type { Reader, RunsPlace } from './RunsPlace.ts';

/** Between two looks at the file where nothing tells of it, and before it is opened again, ms: a page is told within a second. */
const LOOK_EVERY_MS = 700;

/** Between two times that pages are told, ms, however much is written: each of them reads anew. */
const REST_MS = 100;

/**
 * Tells pages that the runs have something new, or their file is another one, or cannot be read any more. One connection looks for
 * all of them, while there is one: it asks for a number and holds no snapshot, so the write-ahead log is not held back.
 */
export class ChangeFeed {
  readonly #place: Pick<RunsPlace, 'read'>;
  readonly #listeners = new Set<() => void>();
  #following: AbortController | null = null;
  /** What was told last: a number that counts for its connection alone, or why there is none. */
  #told: number | string = '';

  constructor(place: Pick<RunsPlace, 'read'>) {
    this.#place = place;
  }

  /** Whoever subscribes looks at the file afterwards: what is committed from then on is told. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#following === null) {
      this.#following = new AbortController();
      void this.#follow(this.#following.signal);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#following?.abort();
      this.#following = null;
    };
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#place.read((reader) => this.#tellNews(reader, signal));
      } catch (error) {
        if (signal.aborted) return;
        this.#tell(String(error));
        await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Until the signal, or the file is not the one any more. */
  async #tellNews(reader: Reader, signal: AbortSignal): Promise<void> {
    this.#told = '';
    const news = await reader.news();
    await endingWith(news.stop, async () => {
      while (!signal.aborted) {
        this.#tell(await reader.dataVersion());
        await sleep(REST_MS, undefined, { signal }).catch(() => undefined);
        await news.next(LOOK_EVERY_MS, signal);
      }
    });
  }

  #tell(seen: number | string): void {
    if (seen === this.#told) return;
    this.#told = seen;
    for (const listener of [...this.#listeners]) listener();
  }
}
