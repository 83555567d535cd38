import { stripVTControlCharacters } from 'node:util';
import { redacted } from './MaskRule.ts';
import { maskSensitiveData } from './maskSensitiveData.ts';
import { secretRegistry } from './SecretRegistry.ts';
import { MASK_REACH, type Mask, safeCut } from './safeCut.ts';

/** Begins what is a secret over several lines: nothing from here on is shown before its end is there. */
const OPENING =
  /-{4,5} ?BEGIN|PuTTY-User-Key-File|untrusted comment:|CRUdJTi|2d{4}424547494e|<Modulus>|<(?:D|P|Q|DP|DQ|InverseQ)>|kty/i;
const CLOSING = /-{4,5} ?END[^\n]{1,80}\n|Private-MAC:[^\n]*\n|<\/(?:RSAKeyValue|RSAParameters)>|[}\]],?\n/;

/** Characters before a line in which the name of what stands in it may be. */
const CONTEXT = 512;

/** Held back at most, in reaches. */
const MAX_HELD = 64;

/** Characters that are read at a time: masking more would hold up whoever else the process works for. */
const MAX_READ = 32 * 1024;

/** Lines that a secret whose end is there may have. */
const MAX_TRIES = 64;

/** After what was left out: as much may be the rest of a secret. */
const CUT_AT_LEAST = MASK_REACH + 1_024;

/** A code of a terminal, or the end of a line, that may go on in the next piece. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFINISHED = /(?:\r+|\u001b|[\u001b\u009b]\[?[\d;?]{0,32}|\u001b\][^\u0007\u001b\n]{0,2048})$/;

const mask: Mask = (text) => maskSensitiveData(text);

/**
 * Masks a text line by line while it is written: a line is shown once it is whole, and a possible secret over several lines
 * once its last line is there. Codes of terminals are taken out first: they could part a secret.
 *
 * @example
 * ```ts
 * const masker = new LineMasker();
 * masker.push('token ghp_');
 * masker.take(); // ''
 * ```
 */
export class LineMasker {
  readonly #isByWord: boolean;
  readonly #isBreak: (character: string | undefined) => boolean;
  /** As it was pushed. */
  #raw = '';
  #held = '';
  /** What was shown last, unmasked: a value may stand in the line after its name. */
  #context = '';
  /** No cut was found below this length: trying again for every piece would be quadratic. */
  #tryFrom = 2 * MASK_REACH;
  /** Text before it was left out. */
  #isCut = false;

  /** @param by - `word`: a word is shown once it is whole; what stands in quotes, once they are closed. */
  constructor({ by = 'line' }: { readonly by?: 'line' | 'word' } = {}) {
    this.#isBreak =
      by === 'line' ? (character) => character === '\n' : (character) => /\s/.test(character ?? '');
    this.#isByWord = by === 'word';
  }

  push(piece: string): void {
    this.#raw += piece;
  }

  /** Whether a text waits that the last {@link take} did not get to. */
  get isBehind(): boolean {
    return this.#raw.length > MAX_READ;
  }

  #read(length: number): void {
    this.#held += withoutControls(this.#raw.slice(0, length));
    this.#raw = this.#raw.slice(length);
  }

  /** Says that what comes now does not follow what came last. Returns what was held. */
  skip(): string {
    const rest = this.end();
    this.#isCut = true;
    return rest;
  }

  /** The lines that are whole by now; of a long text, of its beginning. */
  take(): string {
    const piece = this.#raw.slice(0, MAX_READ);
    const unfinished = UNFINISHED.exec(piece)?.index ?? piece.length;
    this.#read(unfinished === 0 && this.isBehind ? piece.length : unfinished);
    if (this.#isCut && !this.#findStart()) return '';
    const end = this.#lineEnd();
    if (end > 0) return this.#show(end);
    return this.#held.length < this.#tryFrom ? '' : this.#cutLine();
  }

  /** The rest. What is pushed afterwards begins anew. */
  end(): string {
    let shown = '';
    while (this.isBehind) shown += this.take();
    this.#read(this.#raw.length);
    const isReadable = this.#held !== '' && (!this.#isCut || this.#findStart());
    const rest = shown + (isReadable ? this.#show(this.#held.length) : '');
    this.#held = '';
    this.#context = '';
    this.#isCut = false;
    return rest;
  }

  /** Leaves out what may be the rest of a secret; false while that is not all there. */
  #findStart(): boolean {
    if (this.#held.length <= CUT_AT_LEAST) return false;
    const cut = safeCut(this.#held, { from: MASK_REACH - 1, to: CUT_AT_LEAST }, mask);
    if (cut === null) return false;
    this.#held = this.#held.slice(cut.at);
    this.#isCut = false;
    return true;
  }

  /** The place after the last line that can be shown; 0 where there is none. */
  #lineEnd(): number {
    const held = this.#held;
    const limit = Math.min(this.#opening(), secretRegistry.unfinishedAt(held), this.#quote());
    let end = this.#breakBefore(limit);
    if (end === held.length || end === 0) return end;
    const whole = mask(held);
    for (let tries = 0; end > 0 && tries < MAX_TRIES; tries += 1) {
      if (mask(held.slice(0, end)) + mask(held.slice(end)) === whole) return end;
      end = this.#breakBefore(end - 1);
    }
    return 0;
  }

  /** The place after the last break that ends at or before a place; 0 where there is none. */
  #breakBefore(place: number): number {
    let end = Math.min(place, this.#held.length);
    while (end > 0 && !this.#isBreak(this.#held[end - 1])) end -= 1;
    return Math.max(end, 0);
  }

  /** Where a quote begins that is still open, on its line; the length of all where none is. */
  #quote(): number {
    const held = this.#held;
    if (!this.#isByWord) return held.length;
    const line = (this.#context + held).lastIndexOf('\n') + 1 - this.#context.length;
    const before = line < 0 ? this.#context.slice(line) : '';
    const quotes = [...`${before}${held.slice(Math.max(0, line))}`.matchAll(/"/g)];
    return quotes.length % 2 === 0 ? held.length : Math.max(0, held.lastIndexOf('"'));
  }

  /** Where something begins that has no end yet; the length of all where nothing does. */
  #opening(): number {
    const held = this.#held;
    for (let from = 0; ; ) {
      const opening = OPENING.exec(held.slice(from));
      if (opening === null) return held.length;
      const at = from + opening.index;
      const closing = CLOSING.exec(held.slice(at));
      if (closing === null && held.length - at <= MASK_REACH) return at;
      from = at + (closing === null ? opening[0].length : closing.index + closing[0].length);
    }
  }

  #show(end: number): string {
    const before = mask(this.#context);
    const whole = mask(this.#context + this.#held.slice(0, end));
    this.#context = (this.#context + this.#held.slice(0, end)).slice(-CONTEXT);
    this.#held = this.#held.slice(end);
    this.#tryFrom = 2 * MASK_REACH;
    return whole.slice(commonStart(before, whole));
  }

  /** A line that is longer than any secret is shown in parts. */
  #cutLine(): string {
    const holdBack = Math.max(MASK_REACH, secretRegistry.longest + 1);
    const cut = safeCut(this.#held, { from: 0, to: this.#held.length - holdBack }, mask);
    if (cut !== null) {
      this.#context = '';
      this.#held = this.#held.slice(cut.at);
      this.#tryFrom = this.#held.length + MASK_REACH;
      return cut.head;
    }
    this.#tryFrom = this.#held.length * 2;
    if (this.#held.length < holdBack * MAX_HELD) return '';
    this.#held = '';
    this.#isCut = true;
    return redacted('overlong');
  }
}

/** Where what is masked anew differs from what was shown, it is shown again. */
function commonStart(before: string, whole: string): number {
  if (whole.startsWith(before)) return before.length;
  let at = 0;
  while (at < before.length && before[at] === whole[at]) at += 1;
  return at;
}

/** A bar of progress draws its line again and again: each is a line. */
function withoutControls(text: string): string {
  return stripVTControlCharacters(text).replace(/\r+(?=[^\r])\n?/g, '\n');
}
