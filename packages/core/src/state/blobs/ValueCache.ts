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

/** Bytes that the connections of a process keep together, however many they are. */
const CAPACITY_OF_ALL = 32 * 1024 * 1024;

/** However small they are: what a long run wrote once will not be asked for again. */
const MAX_VALUES = 512;

interface Kept {
  readonly value: CachedValue;
  readonly size: number;
  readonly drop: () => void;
}

/** Bytes that several caches share: the value used longest ago in any of them goes first. */
export class ValueBudget {
  readonly #capacity: number;
  readonly #kept = new Set<Kept>();
  #size = 0;

  constructor(capacity: number = CAPACITY_OF_ALL) {
    this.#capacity = capacity;
  }

  add(kept: Kept): void {
    this.#kept.add(kept);
    this.#size += kept.size;
    for (const { drop } of this.#kept) {
      if (this.#size <= this.#capacity) return;
      drop();
    }
  }

  use(kept: Kept): void {
    this.#kept.delete(kept);
    this.#kept.add(kept);
  }

  remove(kept: Kept): void {
    this.#kept.delete(kept);
    this.#size -= kept.size;
  }
}

/** What a process has for all its connections. */
const OF_PROCESS = new ValueBudget();

/**
 * The values that were stored or read last, by hash, so that the next splice is found without reading its base back, and
 * the newest checkpoint without putting its values together again.
 *
 * Keyed by content, because a rolled back transaction gives its row ids to other values. A value that was passed in is
 * kept, not copied.
 */
export class ValueCache {
  readonly #capacity: number;
  readonly #budget: ValueBudget;
  readonly #values = new Map<string, Kept>();
  #size = 0;

  /**
   * @param capacity - Bytes; the values used longest ago go first.
   * @param budget - Shared with other caches. @defaultValue that of the process
   */
  constructor(capacity: number = CAPACITY, budget: ValueBudget = OF_PROCESS) {
    this.#capacity = capacity;
    this.#budget = budget;
  }

  /** Bytes that are kept now. */
  get size(): number {
    return this.#size;
  }

  get(sha256: Uint8Array): CachedValue | undefined {
    const key = keyOf(sha256);
    const kept = this.#values.get(key);
    if (kept === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, kept);
    this.#budget.use(kept);
    return kept.value;
  }

  set(sha256: Uint8Array, value: CachedValue): void {
    this.delete(sha256);
    const size = sizeOf(value);
    if (size > this.#capacity) return;
    const key = keyOf(sha256);
    const kept = { value, size, drop: () => this.#remove(key) };
    this.#values.set(key, kept);
    this.#size += size;
    this.#evict();
    this.#budget.add(kept);
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
    const kept = this.#values.get(key);
    if (kept === undefined) return;
    this.#values.delete(key);
    this.#size -= kept.size;
    this.#budget.remove(kept);
  }
}

function sizeOf({ bytes, stored }: CachedValue): number {
  return bytes.byteLength + stored.bytes.byteLength;
}

function keyOf(sha256: Uint8Array): string {
  return Buffer.from(sha256.buffer, sha256.byteOffset, sha256.byteLength).toString('latin1');
}
