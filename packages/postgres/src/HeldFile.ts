import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DevsError } from '@devs/core';
import { createDatabase, type Outlet } from '@devs/core/state';
import type { Database } from 'better-sqlite3';
import { encodeChange } from './change.ts';
import type { Claim, RunFiles } from './RunFiles.ts';
import type { Shipper } from './Shipper.ts';
import { WalTap } from './WalTap.ts';

/** Of changes since the base, bytes: more, and a new base is made of them. */
const COMPACT_AT = 32 * 1024;

export interface HeldParts {
  readonly files: RunFiles;
  readonly shipper: Shipper;
  /** Where working copies lie. They are never trusted: they are removed when they are closed, and when a worker starts. */
  readonly dir: string;
}

/** A run's file, checked out under an epoch: the engine writes to it as to any, and nothing counts before it has {@link arrived}. */
export class HeldFile implements Outlet {
  readonly db: Database;
  readonly #claim: Claim;
  readonly #parts: HeldParts;
  readonly #path: string;
  readonly #tap: WalTap;
  #seq: number;
  /** Since the base, bytes. */
  #shipped = 0;
  #underWay: Promise<void> | null = null;

  private constructor(
    claim: Claim,
    parts: HeldParts,
    { path, sum }: { readonly path: string; readonly sum: number },
  ) {
    this.#claim = claim;
    this.#parts = parts;
    this.#path = path;
    this.#seq = claim.seq;
    this.#tap = new WalTap(path, sum);
    this.db = createDatabase({ dbPath: path, synchronous: 'normal' });
    this.db.pragma('wal_autocheckpoint = 0');
    this.db.pragma('locking_mode = EXCLUSIVE');
    this.db.pragma('synchronous = OFF'); // what is durable is what has arrived
  }

  /** @throws DevsError `THREAD_NOT_FOUND` if the run has no file. */
  static async checkout(claim: Claim, parts: HeldParts): Promise<HeldFile> {
    const image = await parts.files.read(claim.runId);
    if (image === null) {
      throw new DevsError(`Run "${claim.runId}" has no file.`, {
        code: 'THREAD_NOT_FOUND',
        remedy: 'Restore the database from a backup that has it.',
        context: { runId: claim.runId },
      });
    }
    mkdirSync(parts.dir, { recursive: true, mode: 0o700 });
    // Two attempts of one process have a path each.
    const path = join(parts.dir, `${encodeURIComponent(claim.runId)}.${claim.epoch}.sqlite`);
    writeFileSync(path, image.bytes, { mode: 0o600 });
    return new HeldFile(claim, parts, { path, sum: image.sum });
  }

  /**
   * Whether all that was committed until now is durable: `null` where it is, else a promise of it.
   *
   * @throws DevsError, by the promise: `LEASE_LOST` if somebody else has the run, now and ever after; `STATE_IO` if PostgreSQL
   *   stays away.
   */
  arrived(): Promise<void> | null {
    const change = this.#tap.take();
    if (change !== null) this.#send(encodeChange(change));
    return this.#underWay;
  }

  #send(bytes: Uint8Array): void {
    this.#seq += 1;
    this.#shipped += bytes.length;
    const { runId, epoch } = this.#claim;
    const way = this.#parts.shipper.ship({ runId, epoch, seq: this.#seq, bytes });
    this.#underWay = way;
    const arrive = (): void => {
      if (this.#underWay === way) this.#underWay = null;
    };
    way.then(arrive, () => undefined); // one that was refused stays: nothing of this file arrives any more
  }

  /** Makes a base of what has arrived, where the changes since the last one are many. Nobody may write meanwhile. */
  async compact(atBytes = COMPACT_AT): Promise<void> {
    await this.arrived();
    if (this.#shipped < atBytes) return;
    const file = this.#tap.file();
    if (await this.#parts.files.compact(this.#claim, this.#seq, file)) this.#shipped = 0;
  }

  close(): void {
    this.db.close();
    this.#tap.close();
    for (const end of ['', '-wal', '-shm']) rmSync(`${this.#path}${end}`, { force: true });
  }
}
