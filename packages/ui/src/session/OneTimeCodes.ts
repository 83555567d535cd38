import { createHash, randomBytes } from 'node:crypto';
import type { Principal } from '@devs/core';

/** The header in which the page sends its secret. */
export const SESSION_HEADER = 'x-devs-session';

export interface OneTimeCodesOptions {
  /** Who has the code. */
  readonly by: Principal;
  /** Told of the first code, and of the next one whenever one was used. Whoever reads it is `by`. */
  readonly onCode: (code: string) => void;
}

/**
 * Lets in who was told a code, once per code: it becomes a secret that a page keeps for its tab and sends as a header, which
 * no other site can make a browser send. Nothing is kept but in this process.
 */
export class OneTimeCodes {
  readonly #by: Principal;
  readonly #onCode: (code: string) => void;
  /** SHA-256 of what is valid: comparing what an attacker guesses tells nothing about it. */
  #code = '';
  readonly #secrets = new Set<string>();

  constructor({ by, onCode }: OneTimeCodesOptions) {
    this.#by = by;
    this.#onCode = onCode;
    this.#next();
  }

  /** The secret that a code becomes; `null` for a code that was used, or never was one. */
  readonly signIn = (code: string): string | null => {
    if (digest(code) !== this.#code) return null;
    const secret = newSecret();
    this.#secrets.add(digest(secret));
    this.#next();
    return secret;
  };

  readonly identify = ({ headers }: Request): Principal | null =>
    this.#secrets.has(digest(headers.get(SESSION_HEADER) ?? '')) ? this.#by : null;

  #next(): void {
    const code = newSecret();
    this.#code = digest(code);
    this.#onCode(code);
  }
}

const newSecret = (): string => randomBytes(32).toString('base64url');
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
