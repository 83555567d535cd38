import type { MadeRoom } from '../../state/TranscriptStore.ts';

/** Characters kept from the beginning of a transcript, and as much from its end. */
const MAX_HALF = 2 * 1024 * 1024;

/** Characters dropped at a time. */
const DROP_AT_ONCE = 512 * 1024;

interface Piece {
  readonly seq: number;
  /** Characters. */
  readonly size: number;
}

/** Which pieces of a long transcript are kept: its beginning and its end. The middle goes, and the next piece says so. */
export class KeptPieces {
  #head = 0;
  #tail: Piece[] = [];
  #tailSize = 0;

  add(piece: Piece): void {
    if (this.#tail.length === 0 && this.#head + piece.size <= MAX_HALF) {
      this.#head += piece.size;
      return;
    }
    this.#tail.push(piece);
    this.#tailSize += piece.size;
  }

  /** `null` while there is room. */
  dropped(): MadeRoom | null {
    if (this.#tailSize < MAX_HALF + DROP_AT_ONCE) return null;
    const gone: Piece[] = [];
    while (this.#tail.length > 1 && this.#tailSize > MAX_HALF) {
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
