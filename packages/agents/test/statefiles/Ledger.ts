import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A call to the outside world: what it was for, and its idempotency key. */
export interface LedgerEntry {
  readonly what: string;
  readonly key: string;
}

/** What reached the outside world of a run, in a file that the engine knows nothing of. */
export class Ledger {
  readonly #path: string;

  /** @param dir - With a `.devs` in it: nothing else in there belongs to a user whose repository it is. */
  constructor(dir: string) {
    this.#path = join(dir, '.devs', 'calls.log');
  }

  /** Makes a call: it is written down before its result is there. */
  async call<Result>(what: string, key: string, result: Result): Promise<Result> {
    appendFileSync(this.#path, `${JSON.stringify({ what, key })}\n`);
    return result;
  }

  /** Makes a call that this process does not live to see the result of. */
  async dieOf(what: string, key: string): Promise<never> {
    await this.call(what, key, null);
    return die();
  }

  entries(): readonly LedgerEntry[] {
    if (!existsSync(this.#path)) return [];
    const lines = readFileSync(this.#path, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as LedgerEntry);
  }

  /** How often a call was made. */
  count(what: string): number {
    return this.entries().filter((entry) => entry.what === what).length;
  }
}

/** Ends this process as `kill -9` does. */
export function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}
