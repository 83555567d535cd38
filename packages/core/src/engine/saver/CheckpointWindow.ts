/**
 * The checkpoints a run keeps in memory: the first, and the newest `size`.
 *
 * Invariants:
 *   W1. The first checkpoint is never evicted.
 *   W2. `persist` returns before its checkpoint leaves memory; if it throws, nothing leaves.
 *   W3. Evictions happen in push order, each checkpoint once.
 *
 * Up to `keepAll` checkpoints nothing is evicted at all: a short run stays in memory whole.
 */
export class CheckpointWindow<T> {
  readonly #size: number;
  readonly #persist: (checkpoint: T) => void;
  readonly #keepAll: number;
  readonly #recent: T[] = [];
  #first: { readonly checkpoint: T } | null = null;
  #count = 0;

  /**
   * @param size - Checkpoints kept besides the first; at least 1.
   * @param persist - Must have the checkpoint on disk when it returns.
   * @param keepAll - Checkpoints up to which nothing is evicted; `Infinity` for never.
   * @throws RangeError for any other number.
   */
  constructor(size: number, persist: (checkpoint: T) => void, keepAll = 0) {
    assertWindow(size, keepAll);
    this.#size = size;
    this.#persist = persist;
    this.#keepAll = keepAll;
  }

  /** Adds the newest checkpoint. A failed eviction is tried again with the next one. */
  push(checkpoint: T): void {
    if (this.#first === null) this.#first = { checkpoint };
    else this.#recent.push(checkpoint);
    this.#count += 1;
    if (this.#count <= this.#keepAll) return;
    while (this.#recent.length > this.#size) this.#evictOldest();
  }

  /** Oldest first. */
  retained(): readonly T[] {
    return this.#first === null ? [] : [this.#first.checkpoint, ...this.#recent];
  }

  #evictOldest(): void {
    this.#persist(this.#recent[0] as T); // W2: write, then drop
    this.#recent.shift();
  }
}

/** @throws RangeError naming the number that bounds no window. */
export function assertWindow(size: number, keepAll: number): void {
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(`Expected size to be a whole number of at least 1, got ${size}.`);
  }
  if (keepAll !== Number.POSITIVE_INFINITY && (!Number.isInteger(keepAll) || keepAll < 0)) {
    throw new RangeError(`keepAll must be a whole number of at least 0, got ${keepAll}.`);
  }
}
