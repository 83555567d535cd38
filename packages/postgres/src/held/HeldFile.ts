import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from 'node:process';
import { isDevsError } from '@devs/core';
import { type CommitBarrier, CountedDeaths, hosts, OpenQuestions, runFile } from '@devs/core/internal';
import type { Database } from 'better-sqlite3';
import { encodeChange, FileImage } from '../files/change.ts';
import { assertFileFits, type RunAtOnce, type RunCodec } from '../files/RunFiles.ts';
import type { GateEvent } from '../rows/gateEventRows.ts';
import type { RunClaim } from '../rows/RunRows.ts';
import { lost, type Sender, type Shipment, type Shipper } from '../rows/Shipper.ts';
import { WalTap } from './WalTap.ts';
import { whenAtRest } from './whenAtRest.ts';

const PREFIX = 'devs-runs-';

/**
 * The folder of the working copies of a process. It is removed with the last of them; those that a dead process of this
 * boot has left are removed when the next one is made.
 */
export class WorkingCopies {
  readonly #parent: string;
  #dir: string | null = null;

  /** @param parent - A folder on a local disk, or in memory. */
  constructor(parent: string = tmpdir()) {
    this.#parent = parent;
  }

  dir(): string {
    this.#dir ??= this.#made();
    return this.#dir;
  }

  remove(): void {
    if (this.#dir !== null) rmSync(this.#dir, { recursive: true, force: true });
    this.#dir = null;
  }

  #made(): string {
    const host = hosts.local();
    const boot = `${PREFIX}${createHash('sha256').update(host.bootId).digest('hex').slice(0, 12)}-`;
    mkdirSync(this.#parent, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(this.#parent)) {
      if (!name.startsWith(boot)) continue;
      const [pid, startTime] = name.slice(boot.length).split('-');
      if (!hosts.isAlive(host, `${pid}:${startTime}`))
        rmSync(join(this.#parent, name), { recursive: true, force: true });
    }
    return mkdtempSync(join(this.#parent, `${boot}${hosts.token(host).replace(':', '-')}-`));
  }
}

/** Of changes since the base, bytes: more, and a new base is made of them. */
const COMPACT_AT = 32 * 1024;
/** How many times a run may go on without an arrival: what it has not recorded as a call is done again if it ends meanwhile. */
const AHEAD = 8;
/** After which what nobody waits for is on its way, ms, and the same in a busy process. */
const [SOON_MS, SOON_BUSY_MS] = [100, 500];
/** All of them before the first arrival of a run, and so before its first call: most short runs arrive as a whole. */
const [FIRST_AHEAD, FIRST_SOON_MS, FIRST_SOON_BUSY_MS] = [64, 500, 2000];
/** Of the write-ahead log of a working copy, bytes: more, and it is moved into the file. */
const LOG_BYTES = 8 * 1024 * 1024;

/** Of a file that is kept for its next drive, bytes: it takes longer to add up a larger one than to load it. */
const WARM_BYTES = 4 * 1024 * 1024;

/** A file of which nothing has arrived, and its events. */
export interface WholeFile {
  readonly file: Buffer;
  readonly events: readonly GateEvent[];
}

export interface HeldParts {
  readonly shipper: Shipper;
  readonly codec: RunCodec;
  readonly maxFileBytes: number;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Where working copies lie. */
  readonly dir: string;
}

/**
 * A run's file, checked out under an epoch: the engine writes to it as to any, and nothing counts before it has {@link pending}.
 * The working copy is never trusted: its name has the epoch, and it is deleted when it is closed.
 */
export class HeldFile implements CommitBarrier, Sender {
  readonly db: Database;
  readonly #claim: RunClaim;
  readonly #parts: HeldParts;
  readonly #path: string;
  readonly #tap: WalTap;
  readonly #questions: OpenQuestions;
  /** `null` once what was counted is no more: nobody has to look. */
  #deaths: CountedDeaths | null;
  #share: () => void = () => undefined;
  /** Resolves when others may be driven beside it: it made progress since a process died with it, or none has. */
  readonly shared: Promise<void>;
  readonly #lost = new AbortController();
  #seq: number;
  /** Since the base, bytes. */
  #changed: number;
  /** Of what is to be packed; `null` where nothing is. */
  #next: Promise<void> | null = null;
  /** Has what is to be packed sent. */
  #send: (() => void) | null = null;
  /** Ends the wait for {@link SOON_MS}. */
  #soon: (() => void) | null = null;
  /** Of what is packed and has not arrived; stays where it never will. */
  #underWay: Promise<void> | null = null;
  /** How many times the run has gone on since it packed. */
  #ahead = 0;
  /** Given with {@link whole}, and not sent. */
  readonly #events: GateEvent[] = [];
  /** Of the file as a whole: nothing else is sent while it is on its way, and nothing after it has arrived. */
  #whole: 'none' | 'on its way' | 'arrived' = 'none';

  private constructor(
    claim: RunClaim,
    { image, seq, changed, start, givenUp }: RunAtOnce,
    path: string,
    parts: HeldParts,
  ) {
    this.#claim = claim;
    this.#parts = parts;
    this.#path = path;
    this.#seq = seq;
    this.#changed = changed;
    this.#tap = new WalTap(path, image.sum);
    try {
      this.db = runFile.openAt(path);
      if (start !== null) runFile.begin(this.db, start.run, start.at);
      runFile.markGivenUp(this.db, claim.runId, givenUp, parts.now);
    } catch (error) {
      this.#tap.close();
      throw error;
    }
    this.#questions = new OpenQuestions(this.db);
    const deaths = new CountedDeaths(this.db, claim.deaths, parts.now());
    this.#deaths = claim.deaths > 0 ? deaths : null;
    this.shared =
      this.#deaths === null
        ? Promise.resolve()
        : new Promise((resolve) => {
            this.#share = resolve;
          });
  }

  /** @throws DevsError `SCHEMA_TOO_NEW`, `STATE_CORRUPT`, `STATE_DISK_FULL`, `STATE_IO` */
  static async checkout(claim: RunClaim, at: RunAtOnce, parts: HeldParts): Promise<HeldFile> {
    const path = join(
      parts.dir,
      `${encodeURIComponent(claim.runId).slice(0, 100)}.${claim.lease}.${claim.epoch}.sqlite`,
    );
    try {
      await writeFile(path, at.image.bytes, { mode: 0o600 });
      return new HeldFile(claim, at, path, parts);
    } catch (error) {
      removeFiles(path);
      throw error;
    }
  }

  /** Of the last change that was made. */
  get seq(): number {
    return this.#seq;
  }

  /** Whether the run wrote more after the change `seq`. */
  hasGrown(seq: number): boolean {
    return this.#seq !== seq || this.#tap.isBehind;
  }

  /** Aborted once it is known that somebody else has the run: a change was refused, or {@link lose} was called. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** It is known that somebody else has the run: nothing of this file is kept any more. */
  lose(): void {
    this.#lost.abort(lost(this.#claim));
  }

  /**
   * Whether all that was committed until now is durable: `null` where it is, else a promise of it.
   *
   * @throws DevsError, by the promise: `LEASE_LOST` if somebody else has the run, now and ever after; `STATE_IO` if PostgreSQL
   *   stays away; `VALUE_TOO_LARGE` if the file has become too large to be kept.
   */
  pending(): Promise<void> | null {
    const arrival = this.#arrival();
    this.#sendNow();
    return arrival;
  }

  leaving(): Promise<void> | null {
    const arrival = this.#arrival();
    if (this.#deaths !== null)
      this.#sendNow(); // progress is to arrive before the next death
    else if (this.#send !== null)
      this.#soon ??= this.#isFirst
        ? whenAtRest(() => this.#sendNow(), FIRST_SOON_MS, FIRST_SOON_BUSY_MS)
        : whenAtRest(() => this.#sendNow(), SOON_MS, SOON_BUSY_MS);
    return arrival;
  }

  keepsUp(commit: () => void): Promise<void> | null {
    this.#ahead += 1;
    if (this.#ahead > (this.#isFirst ? FIRST_AHEAD : AHEAD)) {
      commit();
      return this.pending();
    }
    void this.leaving();
    return null;
  }

  get #isFirst(): boolean {
    return this.#seq === 0 && this.#deaths === null;
  }

  #arrival(): Promise<void> | null {
    if (this.#next === null && this.#tap.isBehind) this.#request();
    return this.#next ?? this.#underWay;
  }

  #sendNow(): void {
    if (this.#whole === 'on its way') return;
    const send = this.#send;
    this.#send = null;
    send?.();
  }

  get runId(): string {
    return this.#claim.runId;
  }

  get lease(): string {
    return this.#claim.lease;
  }

  /** @throws DevsError `VALUE_TOO_LARGE`; `LEASE_LOST` once it is closed. */
  pack(): Shipment | null {
    this.#underWay = this.#next;
    this.#next = null;
    this.#ahead = 0;
    if (!this.db.open) throw lost(this);
    const change = this.#whole === 'arrived' ? null : this.#tap.take();
    if (this.#tap.taken > LOG_BYTES && !this.db.inTransaction && runFile.emptyLog(this.db))
      this.#tap.restart();
    if (change === null) return null;
    assertFileFits(this.runId, change.pages * change.pageSize, this.#parts.maxFileBytes);
    const bytes = this.#parts.codec.encode(encodeChange(change, change.beside));
    this.#seq += 1;
    this.#changed += bytes.length;
    const isProgress = this.#deaths?.hasProgressed === true;
    if (isProgress) {
      this.#deaths = null;
      this.#underWay?.then(this.#share, () => undefined);
    }
    const events = [...this.#events.splice(0), ...this.#questions.newEvents()];
    return { seq: this.#seq, bytes, gates: this.#questions.news(), events, isProgress };
  }

  /**
   * The file in the place of its first change, for a run that ends: `null` where some of it has arrived or is on its way. The caller
   * prevents writes until {@link leaveWhole} is called.
   */
  whole(): WholeFile | null {
    const isAsked = this.#next !== null && this.#send === null;
    if (!this.#isFirst || isAsked || this.#underWay !== null) return null;
    const file = this.#tap.whole();
    if (file === null) return null;
    assertFileFits(this.runId, file.length, this.#parts.maxFileBytes);
    this.#events.push(...this.#questions.newEvents());
    this.#whole = 'on its way';
    return { file, events: [...this.#events] };
  }

  /** What {@link whole} gave has arrived. */
  arrivedWhole(): void {
    this.#whole = 'arrived';
    this.#seq = 1;
  }

  /** What {@link whole} gave is not on its way any more. Where it has not arrived, {@link pending} sends it as the first change. */
  leaveWhole(): void {
    if (this.#whole === 'on its way') this.#whole = 'none';
  }

  #request(): void {
    const way = this.#ship(
      new Promise((resolve) => {
        this.#send = resolve;
      }),
    );
    this.#next = way;
    way.then(
      () => {
        if (this.#underWay === way) this.#underWay = null;
      },
      (error: unknown) => {
        if (isDevsError(error, 'LEASE_LOST')) this.#lost.abort(error);
      },
    );
  }

  /** What comes after a change that is lost is lost too. */
  async #ship(asked: Promise<void>): Promise<void> {
    await Promise.all([this.#underWay, asked]);
    this.#soon?.();
    this.#soon = null;
    await this.#parts.shipper.ship(this);
  }

  /**
   * The file, where the changes since the last base are many; with `isEnd`, where there are any, because later settles are
   * rare. Everything has arrived, and the caller prevents writes meanwhile.
   */
  grown(isEnd: boolean): Buffer | null {
    return this.#changed > (isEnd ? 0 : COMPACT_AT) ? this.#tap.file() : null;
  }

  /** Of the file as it has arrived. */
  get bytes(): number {
    return this.#tap.size;
  }

  /** The file as it has arrived, for its next drive here; `null` where it is too large for that. */
  arrived(): FileImage | null {
    return this.#tap.size > WARM_BYTES ? null : new FileImage(this.#tap.file());
  }

  close(): void {
    if (!this.db.open) return;
    this.leaveWhole();
    this.#sendNow();
    removeBefore(this.#path);
    this.db.close();
    this.#tap.close();
    removeFiles(this.#path);
  }
}

/** Before it is closed: SQLite would move the log into a file that is there. Windows keeps open files. */
function removeBefore(path: string): void {
  if (platform !== 'win32') rmSync(path, { force: true });
}

function removeFiles(path: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${end}`, { force: true });
}
