import type { Database } from 'better-sqlite3';
import { News } from '../events/News.ts';
import { onNews } from './FileWatch.ts';

/**
 * News of a state file. Made before the first look, nothing is missed between two; see `onNews`. Stop it when done.
 *
 * @example
 * ```ts
 * const news = new FileNews(db);
 * while (!hasCome()) await news.next(500, signal);
 * news.stop();
 * ```
 */
export class FileNews extends News {
  readonly stop: () => void;

  constructor(db: Database) {
    super();
    this.stop = onNews(db, () => this.tell());
  }
}
