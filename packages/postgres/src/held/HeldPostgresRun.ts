import {
  type CommitBarrier,
  hasEnded,
  type LeasedRun,
  type RunRelease,
  type RunSignal,
} from '@devs/core/internal';
import type { Database } from 'better-sqlite3';
import type { KnownFile, RunFiles } from '../files/RunFiles.ts';
import type { RowSettlement, RunClaim, RunRows } from '../rows/RunRows.ts';
import type { Words } from '../rows/Words.ts';
import type { HeldFile } from './HeldFile.ts';

export interface HeldRunParts {
  readonly claim: RunClaim;
  readonly file: HeldFile;
  readonly rows: RunRows;
  readonly files: RunFiles;
  /** Of the run: one that was deleted and made again is another one. */
  readonly birth: string;
  /** Keeps the file as it was left, for its next drive here. */
  readonly keep: (file: KnownFile) => void;
  /** Of what the run had taken of what it was told, when it was claimed. */
  readonly taken: number;
  /** Has `tell` called whenever the run may have been told something. Returns the way to end that. */
  readonly onTold: (runId: string, tell: () => void) => () => void;
  /** The words of its models. */
  readonly words: Words;
  /** Called when it is let go of, settled or not. */
  readonly onClose: () => void;
}

/** A run that this process has: its file, and what it is told. */
export class HeldPostgresRun implements LeasedRun {
  readonly id: string;
  readonly epoch: number;
  /** Of this claim alone. */
  readonly lease: string;
  /** Age of its oldest unreceived signal at the claim, in seconds; `null` without one. */
  readonly toldSeconds: number | null;
  readonly db: Database;
  readonly isCopy = true;
  readonly outlet: CommitBarrier;
  readonly dueBy: number | undefined;
  /** Of a worker, that it takes. */
  readonly slots: number;
  readonly lost: AbortSignal;
  /** Resolves when others may be driven beside it; see {@link HeldFile.shared}. */
  readonly shared: Promise<void>;
  readonly words: NonNullable<LeasedRun['words']>;
  readonly #parts: HeldRunParts;
  readonly #ends = new Set<() => void>();
  /** Of what was told and given out. */
  #given: number;
  #isSettled = false;
  /** How many of its ends are asked for: what the row says meanwhile may be of before or after. */
  #ending = 0;
  #closing: Promise<void> | null = null;

  constructor(parts: HeldRunParts) {
    const { claim, file, taken, words } = parts;
    this.id = claim.runId;
    this.epoch = claim.epoch;
    this.lease = claim.lease;
    this.toldSeconds = claim.toldSeconds;
    this.db = file.db;
    this.outlet = file;
    this.dueBy = claim.dueBy ?? undefined;
    this.slots = claim.slots;
    this.lost = file.lost;
    this.shared = file.shared;
    this.words = {
      isHeard: () => words.isHeard(claim.runId),
      say: (said) => words.say(claim.runId, claim.tenant, said),
    };
    this.#parts = parts;
    this.#given = taken;
  }

  /** Aborts {@link lost} where the run is held under another lease by now, or by nobody. */
  checkLease(lease: string | undefined): void {
    const { claim, file } = this.#parts;
    if (!this.#isSettled && this.#ending === 0 && lease !== claim.lease) file.lose();
  }

  async signals(): Promise<readonly RunSignal[]> {
    const { last, signals } = await this.#parts.rows.signals(this.id, this.#given);
    this.#given = last;
    return signals;
  }

  onSignal(tell: () => void): () => void {
    const end = this.#parts.onTold(this.id, tell);
    this.#ends.add(end);
    return () => {
      this.#ends.delete(end);
      end();
    };
  }

  /** A run that ends before any of it has arrived arrives as a whole, with its end. */
  async settle(end: RunRelease): Promise<'settled' | 'again'> {
    const { file } = this.#parts;
    const whole = hasEnded(end.status) ? file.whole() : null;
    if (whole !== null) {
      const settled = await this.#settle(end, { seq: 1, head: file.seq, ...whole }).finally(() =>
        file.leaveWhole(),
      );
      await file.pending(); // tells who waits, or sends it
      if (settled !== 'grown') return settled;
    }
    // A call that its drive has left may record its result meanwhile, and a base without that would take its place.
    for (;;) {
      await file.pending();
      const at = { seq: file.seq, head: file.seq, file: file.grown(hasEnded(end.status)), events: [] };
      const settled = await this.#settle(end, at);
      if (settled !== 'grown') return settled;
    }
  }

  async #settle(
    end: RunRelease,
    { file: grown, ...at }: Pick<RowSettlement, 'seq' | 'head' | 'events'> & { readonly file: Buffer | null },
  ): Promise<'settled' | 'again' | 'grown'> {
    const { claim, file, files, rows } = this.#parts;
    const fileBytes = grown?.length ?? file.bytes;
    const base = grown === null ? null : await files.packed(grown, claim.tenant);
    if (at.seq === at.head && file.hasGrown(at.seq)) return 'grown';
    return this.#whileEnding(async () => {
      const settled = await rows.settle(claim, { end, ...at, taken: this.#given, fileBytes, base });
      if (settled !== 'settled') return settled;
      this.#isSettled = true;
      if (at.seq > at.head) file.arrivedWhole();
      if (!hasEnded(end.status)) this.#keepWarm();
      return settled;
    });
  }

  #keepWarm(): void {
    const { claim, file, birth, keep } = this.#parts;
    const image = file.arrived();
    if (image !== null) keep({ image, birth, mark: `${claim.epoch} ${claim.lease}`, seq: file.seq });
  }

  async remove(): Promise<boolean> {
    const { claim, file, rows } = this.#parts;
    await file.pending();
    return this.#whileEnding(async () => {
      const left = await rows.remove(claim, { seq: file.seq, taken: this.#given });
      this.#isSettled ||= left;
      return left;
    });
  }

  async #whileEnding<T>(end: () => Promise<T>): Promise<T> {
    this.#ending += 1;
    try {
      return await end();
    } finally {
      this.#ending -= 1;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { claim, file, rows, onClose } = this.#parts;
    for (const end of this.#ends) end();
    try {
      file.close();
      if (!this.#isSettled) await rows.free(claim);
    } finally {
      onClose();
    }
  }
}
