import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hosts } from '@devs/core/internal';

const PREFIX = 'devs-runs-';

/**
 * The folder of the working copies of a process. It is removed with the last of them; those that a dead process of this
 * boot has left are removed when the next one is made.
 */
export class WorkingCopies {
  readonly #parent: string;
  #dir: string | null = null;

  /** @param parent - A folder on a local disk, or in memory. */
  constructor(parent: string = tmpdir()) {
    this.#parent = parent;
  }

  dir(): string {
    this.#dir ??= this.#made();
    return this.#dir;
  }

  remove(): void {
    if (this.#dir !== null) rmSync(this.#dir, { recursive: true, force: true });
    this.#dir = null;
  }

  #made(): string {
    const host = hosts.local();
    const boot = `${PREFIX}${createHash('sha256').update(host.bootId).digest('hex').slice(0, 12)}-`;
    mkdirSync(this.#parent, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(this.#parent)) {
      if (!name.startsWith(boot)) continue;
      const [pid, startTime] = name.slice(boot.length).split('-');
      if (!hosts.isAlive(host, `${pid}:${startTime}`))
        rmSync(join(this.#parent, name), { recursive: true, force: true });
    }
    return mkdtempSync(join(this.#parent, `${boot}${hosts.token(host).replace(':', '-')}-`));
  }
}
