import {
  type BossJobs,
  type FetchedJob,
  type FetchOptions,
  noticeOf,
  type TenantCaps,
} from '../jobs/BossJobs.ts';
import type { SessionOwner } from '../server/SessionOwner.ts';

export interface DispatcherParts {
  readonly jobs: Pick<BossJobs, 'fetch' | 'touch' | 'isRoomWanted'>;
  readonly owner: Pick<SessionOwner, 'id' | 'ready' | 'listen'>;
  /** On which it is said that a queue has a job. */
  readonly channel: string;
  /** Asked at each look: of the graphs of this worker, and of their older shapes. */
  readonly queues: () => readonly string[];
  /** Jobs in hand at the same time, if each takes one. */
  readonly slots: number;
  /** How many jobs of a tenant may be in hand, where there is a limit. */
  readonly caps: () => Promise<TenantCaps>;
  /** Does a job; never rejects. Its slot is free when it resolves. */
  readonly take: (job: FetchedJob, how: TakenHow) => Promise<void>;
  /** Has every run in hand stop at its next safe point and go on elsewhere, or later. */
  readonly makeRoom: () => void;
  /** Told why nothing can be fetched now. */
  readonly onError: (error: unknown) => void;
  /** Between two looks where nobody says anything, ms. @defaultValue 2000 */
  readonly pollMs?: number;
}

/** How a job was fetched. */
export interface TakenHow {
  /** Other runs are not in hand: processes may have died with the run, or its file is large. */
  readonly isAlone: boolean;
  /** Called when others may be beside it, with the number of slots that it takes. */
  readonly share: (slots: number) => void;
}

const TOUCH_MS = 5000;
/** So long a job that is taken alone waits where good ones are taken first, ms. */
const AFTER_MS = 5000;

/**
 * Fetches jobs for the free slots of a process: one loop, woken when a queue is said to have a job, when a slot is free again,
 * and every two seconds, for what was said while nobody listened.
 *
 * A job that stands apart (processes died with its run, or its file is large) waits for an empty worker, after those of other
 * runs. Others follow once it shares its worker; a large one takes several slots from then on. Where all workers have something in hand, one of them makes room.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #inHand = new Map<FetchedJob, Promise<void>>();
  /** Slots of those that take more than one. */
  readonly #large = new Map<FetchedJob, number>();
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;
  readonly #touching: NodeJS.Timeout;
  readonly #forget: () => void;
  /** Whose turn it is to be asked first. */
  #turn = 0;
  #isWoken = false;
  /** Is in hand, and nothing may be beside it. */
  #alone: FetchedJob | null = null;
  /** Whether a job may wait that is taken alone: it was said, or it is time to look. */
  #looksForAlone = true;
  #makesRoom = false;
  #wake = (): void => undefined;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#forget = parts.owner.listen(parts.channel, (said) => {
      const notice = said === null ? null : noticeOf(said);
      if (notice !== null && !parts.queues().includes(notice.queue)) return;
      if (notice?.isAlone !== false) this.#looksForAlone = true;
      this.#awaken();
    });
    // A job that cannot be touched now is looked after by its run's owner.
    this.#touching = setInterval(() => void this.#touch().catch(() => undefined), TOUCH_MS);
    this.#done = this.#loop();
  }

  get busy(): number {
    return this.#inHand.size;
  }

  /** Free slots. */
  get #free(): number {
    let more = 0;
    for (const slots of this.#large.values()) more += slots - 1;
    return this.#parts.slots - this.busy - more;
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
    const { owner, caps, onError } = this.#parts;
    const isFull = this.#free <= 0;
    if (this.#alone !== null || (isFull && !this.#looksForAlone)) return false;
    try {
      await owner.ready();
      const limits = await caps();
      if (!this.#makesRoom && !isFull && (await this.#fetchAny(this.#free, limits))) return true;
      if (!this.#looksForAlone) return false;
      this.#looksForAlone = false;
      return this.busy === 0 ? await this.#fetchAlone(limits) : await this.#lookForRoom(isFull);
    } catch (error) {
      onError(error);
      return false;
    }
  }

  /** Whether something was fetched from one of the queues, at most so many jobs. */
  async #fetchAny(most: number, caps: TenantCaps, alone = false): Promise<boolean> {
    const queues = this.#parts.queues();
    let fetched = 0;
    this.#turn += 1;
    for (let nth = 0; nth < queues.length && fetched < most; nth += 1) {
      const queue = queues[(this.#turn + nth) % queues.length] as string;
      fetched += await this.#fetchFrom(queue, { limit: most - fetched, caps, alone });
    }
    return fetched > 0;
  }

  /** Whether there may be jobs of other runs. */
  async #fetchAlone(caps: TenantCaps): Promise<boolean> {
    const madeRoom = this.#makesRoom;
    this.#makesRoom = false;
    return !(await this.#fetchAny(1, caps, true)) && madeRoom;
  }

  /** Whether there may be jobs of other runs: room is not wanted any more. Good ones that wait are taken first, for a while. */
  async #lookForRoom(isFull: boolean): Promise<boolean> {
    const { jobs, owner, makeRoom } = this.#parts;
    const queues = this.#parts.queues();
    const madeRoom = this.#makesRoom;
    this.#makesRoom = await jobs.isRoomWanted(owner.id, queues, isFull ? AFTER_MS : 0);
    if (this.#makesRoom) makeRoom();
    return madeRoom && !this.#makesRoom;
  }

  async #fetchFrom(queue: string, options: FetchOptions): Promise<number> {
    if (this.#stopping.signal.aborted) return 0;
    const fetched = await this.#parts.jobs.fetch(queue, options);
    for (const job of fetched) this.#inHand.set(job, this.#take(job, options.alone === true));
    return fetched.length;
  }

  async #take(job: FetchedJob, isAlone: boolean): Promise<void> {
    if (isAlone) this.#alone = job;
    const share = (slots: number): void => {
      if (this.#alone !== job) return;
      this.#alone = null;
      if (slots > 1 && this.#inHand.has(job)) this.#large.set(job, slots);
      this.#looksForAlone = true;
      this.#awaken();
    };
    await this.#parts.take(job, { isAlone, share });
    this.#inHand.delete(job);
    if (this.#large.delete(job) || this.#makesRoom) this.#looksForAlone = true;
    share(1);
    this.#awaken();
  }

  #awaken(): void {
    this.#isWoken = true;
    this.#wake();
  }

  async #pause(): Promise<void> {
    if (this.#isWoken) return;
    const { pollMs = 2000 } = this.#parts;
    await new Promise<void>((resolve) => {
      const poll = setTimeout(() => {
        this.#looksForAlone = true;
        resolve();
      }, pollMs);
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
