/** No rule has anything to find in a shorter text. */
const MIN_LENGTH = 6;

/** From this length on, a text that grew is scanned only where it grew. */
const LONG = 64 * 1024;
const LONG_KEPT = 8;

/**
 * Texts that were scanned and hold no secret, so that what did not change is not scanned again. Bounded, in two
 * generations: when the young one has half of the room it becomes the old one, and what nobody asked for since is gone
 * with the next. To ask for a text costs one look-up, which is most of what masking an unchanged state costs.
 */
export class CleanTexts {
  readonly #maxChars: number;
  #young = new Set<string>();
  #old: ReadonlySet<string> = new Set<string>();
  /** Characters of the young generation. */
  #chars = 0;
  /** Newest first. */
  readonly #lastLong: string[] = [];
  /** Objects and lists that can never change. */
  #values = new WeakSet<object>();

  /** @param maxChars - Characters kept in all, by the length of their texts. */
  constructor(maxChars: number = 8 * 1024 * 1024) {
    this.#maxChars = maxChars;
  }

  has(text: string): boolean {
    if (this.#young.has(text)) return true;
    if (!this.#old.has(text)) return false;
    this.#keep(text);
    return true;
  }

  add(text: string): void {
    if (text.length < MIN_LENGTH || text.length > this.#maxChars / 2 || this.#young.has(text)) return;
    this.#keep(text);
    this.#remember(text);
  }

  /** Whether every text in a lasting value was found to be clean. */
  hasValue(value: object): boolean {
    return this.#values.has(value);
  }

  addValue(value: object): void {
    this.#values.add(value);
  }

  /** Length of the longest start of `text` that is one of the last long texts: a log or a document that grew. */
  cleanStartOf(text: string): number {
    const starts = this.#lastLong.filter((known) => known.length < text.length && text.startsWith(known));
    return Math.max(0, ...starts.map(({ length }) => length));
  }

  clear(): void {
    this.#young = new Set();
    this.#old = new Set();
    this.#values = new WeakSet();
    this.#lastLong.length = 0;
    this.#chars = 0;
  }

  #keep(text: string): void {
    if (this.#chars + text.length > this.#maxChars / 2) {
      this.#old = this.#young;
      this.#young = new Set();
      this.#chars = 0;
    }
    this.#young.add(text);
    this.#chars += text.length;
  }

  #remember(text: string): void {
    if (text.length < LONG) return;
    this.#lastLong.unshift(text);
    if (this.#lastLong.length > LONG_KEPT) this.#lastLong.pop();
  }
}
