import { isDevsError } from '@devs/core';
import type { KnownFile, RunAtOnce, RunFiles } from './RunFiles.ts';

/** Of images that are kept, bytes: the run that was looked at longest ago goes first. */
const KEPT_BYTES = 64 * 1024 * 1024;

/**
 * The files of runs that were looked at, kept for who looks again: what has come to a file since is read, and not the file
 * anew. A change fits the file it was made to alone, by a sum over all of it; where it does not, the file is read as it is.
 */
export class LookedAtFiles {
  readonly #files: RunFiles;
  readonly #keptBytes: number;
  /** The longest unused first. */
  readonly #kept = new Map<string, KnownFile>();
  /** The last look at each run that is not done: one is done after the other. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(files: RunFiles, keptBytes = KEPT_BYTES) {
    this.#files = files;
    this.#keptBytes = keptBytes;
  }

  /**
   * A run as it is now, or later.
   *
   * @param use - Given it at once, as it may be another one by the next tick; `null` for no such run.
   * @throws DevsError `STATE_CORRUPT`, `STATE_IO`; what `use` throws.
   */
  look<T>(runId: string, use: (at: RunAtOnce | null) => T): Promise<T> {
    const before = this.#turns.get(runId) ?? Promise.resolve();
    const looked = before.then(async () => {
      const at = await this.#read(runId);
      if (at !== null) this.#keep(runId, at);
      return use(at);
    });
    const turn = looked
      .catch(() => undefined)
      .then(() => {
        if (this.#turns.get(runId) === turn) this.#turns.delete(runId);
      });
    this.#turns.set(runId, turn);
    return looked;
  }

  async #read(runId: string): Promise<RunAtOnce | null> {
    const known = this.#kept.get(runId) ?? null;
    this.#kept.delete(runId);
    try {
      return await this.#files.read(runId, known);
    } catch (error) {
      if (known === null || !isDevsError(error, 'STATE_CORRUPT')) throw error;
      return await this.#files.read(runId); // it was another file than the one that has changed
    }
  }

  #keep(runId: string, { image, birth, mark, seq }: RunAtOnce): void {
    this.#kept.set(runId, { image, birth, mark, seq });
    let bytes = 0;
    for (const kept of this.#kept.values()) bytes += kept.image.bytes.length;
    for (const [id, kept] of this.#kept) {
      if (bytes <= this.#keptBytes) return;
      this.#kept.delete(id);
      bytes -= kept.image.bytes.length;
    }
  }
}
