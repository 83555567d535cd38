import { createHash, randomBytes } from 'node:crypto';
import type { Principal } from '@devs/core';

/** The header in which the page sends its secret. */
export const SESSION_HEADER = 'x-devs-session';

export interface OneTimeCodesOptions {
  /** The person with the code. */
  readonly by: Principal;
  /** Receives the first code, and the next one after each use. Whoever reads it acts as `by`. */
  readonly onCode: (code: string) => void;
}

/**
 * Signs people in with one-time codes. A code becomes a secret that a page keeps for its tab and sends as a header,
 * which other sites cannot make a browser send. All of it is in this process only.
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

  /** Exchanges a code for a secret; returns `null` for a used or unknown code. */
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
