import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { walFrames } from '@devs/core/internal';
import {
  besideOf,
  type Change,
  editsBetween,
  type PageEdit,
  pageChecksum,
  pageSizeOf,
} from '../files/change.ts';

/** Pages kept in memory for each file. */
const HOT_PAGES = 64;

/** A change, and {@link besideOf} each of its edits. */
export interface TakenChange extends Change {
  readonly beside: readonly Uint8Array[];
}

type Commits = NonNullable<ReturnType<typeof walFrames.committed>>;

interface WalPage {
  readonly bytes: Buffer;
  readonly sum: number;
}

/**
 * What a connection has committed to its file since the last look, read from the write-ahead log. It is the only connection, has
 * `wal_autocheckpoint = 0`, and cuts the log only when all of it was taken, in the same tick; {@link restart} is told.
 */
export class WalTap {
  /** Open as long as the connection: to close it would drop SQLite's locks on the file. */
  readonly #file: number;
  readonly #logPath: string;
  readonly #pageSize: number;
  #log: number | null = null;
  /** After the last change that was taken. */
  #pages: number;
  #sum: number;
  #position: ReturnType<typeof walFrames.begin> = null;
  /** Where the newest frame of a page that was taken begins, bytes. */
  readonly #taken = new Map<number, number>();
  /** Pages as they were taken, those that changed last at the end: what changes does so again and again. */
  readonly #hot = new Map<number, WalPage>();

  /**
   * @param path - Of the file, which has all that was committed: its log is empty.
   * @param sum - Of all pages, as {@link Change.sum}.
   */
  constructor(path: string, sum: number) {
    this.#file = openSync(path, 'r');
    this.#pageSize = pageSizeOf(this.#read(this.#file, 0, 100));
    this.#pages = fstatSync(this.#file).size / this.#pageSize;
    this.#logPath = `${path}-wal`;
    this.#sum = sum;
  }

  /** Bytes of the log that were taken. */
  get taken(): number {
    return this.#position?.at ?? 0;
  }

  /** Of the file as it was taken, bytes. */
  get size(): number {
    return this.#pages * this.#pageSize;
  }

  /** False where nothing was committed since the last look. True costs a look. */
  get isBehind(): boolean {
    return fstatSync(this.#openLog()).size !== this.taken;
  }

  /**
   * `null` where nothing was committed.
   *
   * @throws RangeError if the log is not the one that was read before: what it had is lost to who takes it from here.
   */
  take(): TakenChange | null {
    const { commits, frameAt } = this.#news() ?? {};
    if (commits === undefined || frameAt === undefined) return null;
    const made = this.#made(commits, frameAt);
    this.#pages = commits.pages;
    this.#position = commits.end;
    return { pageSize: this.#pageSize, pages: this.#pages, sum: this.#sum, ...made };
  }

  /** The file as it is after the last commit. Nothing is taken. `null` where nothing was committed since the last look. */
  whole(): Buffer | null {
    const news = this.#news();
    if (news === null) return null;
    const file = this.#fileOf(news.commits.pages);
    for (const [page, at] of news.commits.frames)
      if (page <= news.commits.pages) file.set(news.frameAt(at), (page - 1) * this.#pageSize);
    return file;
  }

  /**
   * The file as it was when the last change was taken, from the disk: of a free page, SQLite may hold other bytes in memory
   * (spilled, and rolled back to a savepoint), so that `serialize()` is not the file that changes are made of.
   */
  file(): Buffer {
    return this.#fileOf(this.#pages);
  }

  /** Call it when a checkpoint has put the whole log into the file, and emptied it (`TRUNCATE`). */
  restart(): void {
    if (this.#log !== null && fstatSync(this.#log).size > 0)
      throw new RangeError(`${this.#logPath} is not empty.`);
    this.#taken.clear(); // the pages are in the file, and as hot as before
    this.#position = null;
  }

  /** Call it when the connection is closed. */
  close(): void {
    closeSync(this.#file);
    if (this.#log !== null) closeSync(this.#log);
  }

  #fileOf(pages: number): Buffer {
    const file = this.#read(this.#file, 0, pages * this.#pageSize);
    for (const [page, at] of this.#taken)
      if (page <= pages) file.set(this.#frame(at), (page - 1) * this.#pageSize);
    return file;
  }

  /** What was committed since the last change that was taken, and the pages of its frames. */
  #news(): { readonly commits: Commits; readonly frameAt: (at: number) => Buffer } | null {
    const log = this.#openLog();
    const begin = walFrames.begin(this.#read(log, 0, walFrames.LOG_HEADER));
    const from = this.#position ?? begin;
    if (from === null) return null;
    if (begin?.salts.equals(from.salts) !== true)
      throw new RangeError(`${this.#logPath} was truncated by another process.`);
    const tail = this.#read(log, from.at, fstatSync(log).size - from.at);
    const commits = walFrames.committed(tail, from);
    if (commits === null) return null;
    const pageAt = (at: number): number => at - from.at + walFrames.FRAME_HEADER;
    return { commits, frameAt: (at) => tail.subarray(pageAt(at), pageAt(at) + this.#pageSize) };
  }

  #made({ frames, pages }: Commits, frameAt: (at: number) => Buffer): Pick<TakenChange, 'edits' | 'beside'> {
    const edits: PageEdit[] = [];
    const beside: Uint8Array[] = [];
    let sum = this.#sum;
    for (let page = pages + 1; page <= this.#pages; page += 1) {
      sum ^= this.#before(page).sum;
      this.#hot.delete(page);
    }
    for (let page = this.#pages + 1; page <= pages; page += 1) sum ^= this.#before(page).sum;
    for (const [page, at] of frames) {
      if (page <= pages) {
        const before = this.#before(page);
        const after = walPage(page, frameAt(at));
        sum ^= before.sum ^ after.sum;
        const own = editsBetween(page, before.bytes, after.bytes);
        edits.push(...own);
        if (page <= this.#pages)
          beside.push(...own.map((edit) => Buffer.from(besideOf(before.bytes, edit.at, edit.bytes.length)))); // hot pages are written over
        this.#keepHot(page, after);
      }
      this.#taken.set(page, at);
    }
    this.#sum = sum >>> 0;
    return { edits, beside };
  }

  /** As it was when the last change was taken: zeros, where the file had no such page. */
  #before(page: number): WalPage {
    if (page > this.#pages) return walPage(page, Buffer.alloc(this.#pageSize));
    const at = this.#taken.get(page);
    return (
      this.#hot.get(page) ??
      walPage(
        page,
        at === undefined
          ? this.#read(this.#file, (page - 1) * this.#pageSize, this.#pageSize)
          : this.#frame(at),
      )
    );
  }

  #keepHot(page: number, { bytes, sum }: WalPage): void {
    const kept = this.#hot.get(page)?.bytes ?? Buffer.allocUnsafeSlow(this.#pageSize);
    bytes.copy(kept);
    this.#hot.delete(page);
    this.#hot.set(page, { bytes: kept, sum });
    const [coldest] = this.#hot.size > HOT_PAGES ? this.#hot.keys() : [];
    if (coldest !== undefined) this.#hot.delete(coldest);
  }

  #frame(at: number): Buffer {
    return this.#read(this.#openLog(), at + walFrames.FRAME_HEADER, this.#pageSize);
  }

  #openLog(): number {
    this.#log ??= openSync(this.#logPath, 'r');
    return this.#log;
  }

  #read(file: number, at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, length));
    return bytes.fill(0, readSync(file, bytes, 0, bytes.length, at)); // zeros, where the file ends earlier
  }
}

const walPage = (page: number, bytes: Buffer): WalPage => ({ bytes, sum: pageChecksum(page, bytes) });
