/** No rule has anything to find in a shorter text. */
const MIN_LENGTH = 6;

/** From this length on, a text that grew is scanned only where it grew. */
const LONG = 64 * 1024;
const LONG_KEPT = 8;

/**
 * Texts that were scanned and hold no secret, so that what did not change is not scanned again. Bounded: the texts
 * that were not asked for the longest time go first.
 */
export class CleanTexts {
  readonly #maxChars: number;
  readonly #texts = new Set<string>();
  /** Newest first. */
  readonly #lastLong: string[] = [];
  #chars = 0;

  /** @param maxChars - Characters kept in all, by the length of their texts. */
  constructor(maxChars: number = 8 * 1024 * 1024) {
    this.#maxChars = maxChars;
  }

  has(text: string): boolean {
    if (text.length < MIN_LENGTH || !this.#texts.delete(text)) return false;
    this.#texts.add(text);
    return true;
  }

  add(text: string): void {
    if (text.length < MIN_LENGTH || text.length > this.#maxChars || this.#texts.has(text)) return;
    this.#texts.add(text);
    this.#chars += text.length;
    this.#remember(text);
    for (const oldest of this.#texts) {
      if (this.#chars <= this.#maxChars) return;
      this.#texts.delete(oldest);
      this.#chars -= oldest.length;
    }
  }

  /** Length of the longest start of `text` that is one of the last long texts: a log or a document that grew. */
  cleanStartOf(text: string): number {
    const starts = this.#lastLong.filter((known) => known.length < text.length && text.startsWith(known));
    return Math.max(0, ...starts.map(({ length }) => length));
  }

  clear(): void {
    this.#texts.clear();
    this.#lastLong.length = 0;
    this.#chars = 0;
  }

  #remember(text: string): void {
    if (text.length < LONG) return;
    this.#lastLong.unshift(text);
    if (this.#lastLong.length > LONG_KEPT) this.#lastLong.pop();
  }
}
