import type { MadeRoom } from '../../state/TranscriptStore.ts';

/** Characters kept from the beginning of a transcript, and as much from its end. */
const MAX_HALF = 2 * 1024 * 1024;

/** Part of a half that is dropped at a time: each time, the file is searched for what else needs the bytes. */
const DROP_AT_ONCE = 1 / 4;

interface WindowPiece {
  readonly seq: number;
  /** Characters. */
  readonly size: number;
}

/** Which pieces of a long transcript are kept: its beginning and its end. The middle goes, and the next piece says so. */
export class TranscriptWindow {
  readonly #half: number;
  #head = 0;
  #tail: WindowPiece[] = [];
  #tailSize = 0;

  /** @param half - Characters kept from the beginning, and as much from the end. */
  constructor(half: number = MAX_HALF) {
    this.#half = half;
  }

  add(piece: WindowPiece): void {
    if (this.#tail.length === 0 && this.#head + piece.size <= this.#half) {
      this.#head += piece.size;
      return;
    }
    this.#tail.push(piece);
    this.#tailSize += piece.size;
  }

  /** `null` while there is room. */
  dropped(): MadeRoom | null {
    if (this.#tailSize < this.#half * (1 + DROP_AT_ONCE)) return null;
    const gone: WindowPiece[] = [];
    while (this.#tail.length > 1 && this.#tailSize > this.#half) {
      const [oldest] = this.#tail.splice(0, 1);
      if (oldest === undefined) break;
      gone.push(oldest);
      this.#tailSize -= oldest.size;
    }
    const [next] = this.#tail;
    if (next === undefined || gone.length === 0) return null;
    return {
      seqs: gone.map(({ seq }) => seq),
      size: gone.reduce((sum, { size }) => sum + size, 0),
      before: next.seq,
    };
  }
}
