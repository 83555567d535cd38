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

/**
 * Large values of a connection: a chat that has grown, as its channel and as the journal has it. To put one together again
 * takes as long as all else that is done with it, and whoever works with it has it in memory more than once.
 */
const LARGE_VALUES = 2;

/** Those that the connections of a process keep together. */
const LARGE_VALUES_OF_ALL = 4;

interface CachedEntry {
  readonly value: CachedValue;
  readonly size: number;
  readonly isLarge: boolean;
  readonly drop: () => void;
}

/** Room that several caches share: the value used longest ago in any of them goes first. */
export class ValueBudget {
  readonly #capacity: number;
  readonly #kept = new Set<CachedEntry>();
  readonly #large = new Set<CachedEntry>();
  #size = 0;

  constructor(capacity: number = CAPACITY_OF_ALL) {
    this.#capacity = capacity;
  }

  add(kept: CachedEntry): void {
    this.#placeOf(kept).add(kept);
    if (!kept.isLarge) this.#size += kept.size;
    for (const { drop } of this.#kept) {
      if (this.#size <= this.#capacity) break;
      drop();
    }
    for (const { drop } of this.#large) {
      if (this.#large.size <= LARGE_VALUES_OF_ALL) return;
      drop();
    }
  }

  use(kept: CachedEntry): void {
    this.#placeOf(kept).delete(kept);
    this.#placeOf(kept).add(kept);
  }

  remove(kept: CachedEntry): void {
    this.#placeOf(kept).delete(kept);
    if (!kept.isLarge) this.#size -= kept.size;
  }

  #placeOf({ isLarge }: CachedEntry): Set<CachedEntry> {
    return isLarge ? this.#large : this.#kept;
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
  readonly #values = new Map<string, CachedEntry>();
  #size = 0;
  #largeValues = 0;

  /**
   * @param capacity - Bytes; the values used longest ago go first. A value of more than a half of it is large, and not counted.
   * @param budget - Shared with other caches. @defaultValue that of the process
   */
  constructor(capacity: number = CAPACITY, budget: ValueBudget = OF_PROCESS) {
    this.#capacity = capacity;
    this.#budget = budget;
  }

  /** Bytes that are kept now, of values that are not large. */
  get size(): number {
    return this.#size;
  }

  get(sha256: Uint8Array): CachedValue | undefined {
    const key = cacheKey(sha256);
    const kept = this.#values.get(key);
    if (kept === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, kept);
    this.#budget.use(kept);
    return kept.value;
  }

  set(sha256: Uint8Array, value: CachedValue): void {
    this.delete(sha256);
    const size = cachedSize(value);
    const isLarge = size > this.#capacity / 2;
    const key = cacheKey(sha256);
    const kept = { value, size, isLarge, drop: () => this.#remove(key) };
    this.#values.set(key, kept);
    this.#count(kept, 1);
    this.#evict();
    this.#budget.add(kept);
  }

  delete(sha256: Uint8Array): void {
    this.#remove(cacheKey(sha256));
  }

  #evict(): void {
    for (const [key, { isLarge }] of this.#values) {
      const [isSmallFull, isLargeFull] = [this.#size > this.#capacity, this.#largeValues > LARGE_VALUES];
      const isFull = this.#values.size > MAX_VALUES;
      if (!(isFull || isSmallFull || isLargeFull)) return;
      if (isFull || (isLarge ? isLargeFull : isSmallFull)) this.#remove(key);
    }
  }

  #count({ isLarge, size }: CachedEntry, sign: 1 | -1): void {
    if (isLarge) this.#largeValues += sign;
    else this.#size += sign * size;
  }

  #remove(key: string): void {
    const kept = this.#values.get(key);
    if (kept === undefined) return;
    this.#values.delete(key);
    this.#count(kept, -1);
    this.#budget.remove(kept);
  }
}

function cachedSize({ bytes, stored }: CachedValue): number {
  return bytes.byteLength + stored.bytes.byteLength;
}

function cacheKey(sha256: Uint8Array): string {
  return Buffer.from(sha256.buffer, sha256.byteOffset, sha256.byteLength).toString('latin1');
}
