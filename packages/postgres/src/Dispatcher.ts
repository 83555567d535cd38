import type { BossJobs, FetchedJob, TenantCaps } from './BossJobs.ts';
import type { SessionOwner } from './SessionOwner.ts';

export interface DispatcherParts {
  readonly jobs: Pick<BossJobs, 'fetch' | 'touch'>;
  readonly owner: Pick<SessionOwner, 'ready' | 'listen'>;
  /** On which it is said that a queue has a job. */
  readonly channel: string;
  readonly queues: readonly string[];
  /** Jobs in hand at the same time. */
  readonly slots: number;
  /** How many jobs of a tenant may be in hand, where there is a limit. */
  readonly caps: () => Promise<TenantCaps>;
  /** Does a job; never rejects. Its slot is free when it resolves. */
  readonly take: (job: FetchedJob) => Promise<void>;
  /** Told why nothing can be fetched now. */
  readonly onError: (error: unknown) => void;
  /** Between two looks where nobody says anything, ms. @defaultValue 2000 */
  readonly pollMs?: number;
}

const TOUCH_MS = 5000;

/**
 * Fetches jobs for the free slots of a process: one loop, woken when a queue is said to have a job, when a slot is free again,
 * and every two seconds, for what was said while nobody listened.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #inHand = new Map<FetchedJob, Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;
  readonly #touching: NodeJS.Timeout;
  readonly #forget: () => void;
  /** Whose turn it is to be asked first. */
  #turn = 0;
  #isWoken = false;
  #wake = (): void => undefined;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#forget = parts.owner.listen(parts.channel, (queue) => {
      if (queue === null || parts.queues.includes(queue)) this.#awaken();
    });
    // A job that cannot be touched now is looked after by its run's owner.
    this.#touching = setInterval(() => void this.#touch().catch(() => undefined), TOUCH_MS);
    this.#done = this.#loop();
  }

  get busy(): number {
    return this.#inHand.size;
  }

  /** Fetches no more; resolves when every job in hand is done. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#awaken();
    await this.#done;
    while (this.#inHand.size > 0) await Promise.all(this.#inHand.values());
    this.#forget();
    clearInterval(this.#touching);
  }

  async #loop(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#isWoken = false;
      if (!(await this.#fetch())) await this.#pause();
    }
  }

  /** Whether there may be more: something was fetched, and a slot is free. */
  async #fetch(): Promise<boolean> {
    const { owner, caps, queues, slots, onError } = this.#parts;
    try {
      if (this.busy >= slots) return false;
      await owner.ready();
      const limits = await caps();
      let fetched = 0;
      this.#turn += 1;
      for (let nth = 0; nth < queues.length && this.busy < slots; nth += 1) {
        const queue = queues[(this.#turn + nth) % queues.length] as string;
        fetched += await this.#fetchFrom(queue, limits);
      }
      return fetched > 0;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  async #fetchFrom(queue: string, caps: TenantCaps): Promise<number> {
    const { jobs, slots, take } = this.#parts;
    if (this.#stopping.signal.aborted) return 0;
    const fetched = await jobs.fetch(queue, { limit: slots - this.busy, caps });
    for (const job of fetched) {
      const taken = take(job).finally(() => {
        this.#inHand.delete(job);
        this.#awaken();
      });
      this.#inHand.set(job, taken);
    }
    return fetched.length;
  }

  #awaken(): void {
    this.#isWoken = true;
    this.#wake();
  }

  async #pause(): Promise<void> {
    if (this.#isWoken) return;
    const { pollMs = 2000 } = this.#parts;
    await new Promise<void>((resolve) => {
      const poll = setTimeout(resolve, pollMs);
      this.#wake = () => {
        clearTimeout(poll);
        resolve();
      };
    });
  }

  async #touch(): Promise<void> {
    if (this.busy > 0) await this.#parts.jobs.touch([...this.#inHand.keys()]);
  }
}
