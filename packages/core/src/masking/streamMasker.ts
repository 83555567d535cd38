import { redacted } from './MaskRule.ts';
import { maskSensitiveData } from './maskSensitiveData.ts';
import { secretRegistry } from './SecretRegistry.ts';
import { MASK_REACH, type Mask, safeCut } from './safeCut.ts';

/** Masks a text that arrives in pieces, cut anywhere. */
export interface StreamMasker {
  /** Takes the next piece; returns what can be shown by now, which may be nothing. */
  push(piece: string): string;
  /** The rest; call it once, after the last piece. */
  end(): string;
}

export interface StreamMaskerOptions {
  /** @defaultValue `maskSensitiveData` */
  readonly mask?: Mask;
  /** Longest secret that is masked whole, in characters; as much is held back. @defaultValue 16,384 */
  readonly reach?: number;
}

/** Held back at most, in reaches. */
const MAX_HELD = 256;

/**
 * Makes a masker for output that is shown while it is written. The last {@link MASK_REACH} characters are held back,
 * so a secret up to that length is seen whole, wherever the pieces end.
 *
 * A single match that goes on for megabytes ends the output with a mark: what follows might be the rest of it.
 *
 * @throws RangeError if `reach` is not a positive whole number.
 * @example
 * ```ts
 * const masker = createStreamMasker();
 * child.stdout.setEncoding('utf8').on('data', (piece) => show(masker.push(piece))).on('end', () => show(masker.end()));
 * ```
 */
export function createStreamMasker(options: StreamMaskerOptions = {}): StreamMasker {
  const { mask = maskSensitiveData, reach = MASK_REACH } = options;
  if (!Number.isSafeInteger(reach) || reach < 1) {
    throw new RangeError(`Expected reach to be a positive whole number, got ${reach}.`);
  }
  return new CarryOver((text) => mask(text), reach);
}

class CarryOver implements StreamMasker {
  readonly #mask: Mask;
  readonly #reach: number;
  #held = '';
  /** No cut was found below this length: trying again for every piece would be quadratic. */
  #tryFrom: number;
  #isOver = false;

  constructor(mask: Mask, reach: number) {
    this.#mask = mask;
    this.#reach = reach;
    this.#tryFrom = this.#holdBack * 2;
  }

  push(piece: string): string {
    if (this.#isOver) return '';
    this.#held += piece;
    if (this.#held.length < this.#tryFrom) return '';
    const cut = safeCut(this.#held, { from: 0, to: this.#held.length - this.#holdBack }, this.#mask);
    if (cut === null) return this.#holdOn();
    this.#held = this.#held.slice(cut.at);
    this.#tryFrom = Math.max(this.#holdBack * 2, this.#held.length + this.#holdBack);
    return cut.head;
  }

  end(): string {
    const rest = this.#isOver ? '' : this.#mask(this.#held);
    this.#held = '';
    this.#isOver = true;
    return rest;
  }

  /** A registered value may be longer than the reach. */
  get #holdBack(): number {
    return Math.max(this.#reach, secretRegistry.longest + 1);
  }

  #holdOn(): string {
    this.#tryFrom = this.#held.length * 2;
    if (this.#held.length < this.#holdBack * MAX_HELD) return '';
    this.#held = '';
    this.#isOver = true;
    return redacted('overlong');
  }
}
