import type { Encoded } from './compression.ts';

/** How a value lies in its row. */
export interface StoredValue extends Encoded {
  /** Bytes of the value itself. */
  readonly size: number;
  /** `null`, as prefix and suffix, where the value is stored whole. */
  readonly baseId: number | null;
  readonly prefix: number | null;
  readonly suffix: number | null;
}

/** A value that was proved to be what its row stands for, and may be the base of the next one. */
export interface CachedValue {
  readonly bytes: Uint8Array;
  readonly stored: StoredValue;
  /** Bytes of the full value its chain of splices ends at; its own size where it is a full value. */
  readonly fullSize: number;
  /** Bytes the splices since that full value take in the file; 0 where it is a full value. */
  readonly chainBytes: number;
}

/** Bytes; the last value of each channel of a run or two. */
const CAPACITY = 16 * 1024 * 1024;

/** However small they are: what a long run wrote once will not be asked for again. */
const MAX_VALUES = 512;

/**
 * The values that were stored or read last, by hash, so that the next splice is found without reading its base back, and
 * the newest checkpoint without putting its values together again.
 *
 * Keyed by content, because a rolled back transaction gives its row ids to other values. A value that was passed in is
 * kept, not copied.
 */
export class ValueCache {
  readonly #capacity: number;
  readonly #values = new Map<string, CachedValue>();
  #size = 0;

  /** @param capacity - Bytes; the values used longest ago go first. */
  constructor(capacity: number = CAPACITY) {
    this.#capacity = capacity;
  }

  /** Bytes that are kept now. */
  get size(): number {
    return this.#size;
  }

  get(sha256: Uint8Array): CachedValue | undefined {
    const key = keyOf(sha256);
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(sha256: Uint8Array, value: CachedValue): void {
    this.delete(sha256);
    if (sizeOf(value) > this.#capacity) return;
    this.#values.set(keyOf(sha256), value);
    this.#size += sizeOf(value);
    this.#evict();
  }

  delete(sha256: Uint8Array): void {
    this.#remove(keyOf(sha256));
  }

  #evict(): void {
    for (const key of this.#values.keys()) {
      if (this.#size <= this.#capacity && this.#values.size <= MAX_VALUES) return;
      this.#remove(key);
    }
  }

  #remove(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#size -= sizeOf(value);
  }
}

function sizeOf({ bytes, stored }: CachedValue): number {
  return bytes.byteLength + stored.bytes.byteLength;
}

function keyOf(sha256: Uint8Array): string {
  return Buffer.from(sha256.buffer, sha256.byteOffset, sha256.byteLength).toString('latin1');
}
