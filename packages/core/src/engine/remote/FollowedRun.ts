import { News } from '../../events/News.ts';
import type { AppInstance } from '../AppFactory.ts';
import type { RunFileView, Runs } from '../runs/Runs.ts';

/** What is done with a look at a run, which is closed afterwards. */
export type UseRunFile<Graph, State, Update, T> = (
  opened: AppInstance<Graph, State, Update>,
  looked: RunFileView,
) => Promise<T>;

/** A run that is looked at whenever something of it is new. Close it when done. */
export class FollowedRun<Graph, State, Update> {
  readonly #id: string;
  readonly #runs: Runs;
  readonly #open: (looked: RunFileView) => AppInstance<Graph, State, Update>;
  readonly #news = new News();
  #end: () => void = () => undefined;
  #at: string | null = null;

  private constructor(
    id: string,
    runs: Runs,
    open: (looked: RunFileView) => AppInstance<Graph, State, Update>,
  ) {
    this.#id = id;
    this.#runs = runs;
    this.#open = open;
  }

  /** @throws DevsError `STATE_IO` where it cannot be reached. */
  static async of<Graph, State, Update>(
    id: string,
    runs: Runs,
    open: (looked: RunFileView) => AppInstance<Graph, State, Update>,
  ): Promise<FollowedRun<Graph, State, Update>> {
    const followed = new FollowedRun(id, runs, open);
    followed.#end = await runs.watch(id, () => followed.#news.tell());
    return followed;
  }

  /** `null` where nothing is new since the last look. @throws DevsError `THREAD_NOT_FOUND`, `STATE_IO` */
  async look<T>(use: UseRunFile<Graph, State, Update, T>): Promise<T | null> {
    const looked =
      this.#at === null ? await this.#runs.open(this.#id) : await this.#runs.reopen(this.#id, this.#at);
    if (looked === null) return null;
    try {
      this.#at = looked.at;
      return await use(this.#open(looked), looked);
    } finally {
      looked.close();
    }
  }

  /** The next look is at the run whether or not something of it is new. */
  forget(): void {
    this.#at = null;
  }

  /** Resolves when something may be new since the last look, after `atMostMs`, or when `signal` is aborted. */
  next(signal: AbortSignal | undefined, atMostMs?: number): Promise<void> {
    return this.#news.next(atMostMs, signal);
  }

  close(): void {
    this.#end();
  }
}
