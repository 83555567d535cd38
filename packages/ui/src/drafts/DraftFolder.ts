import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gate, Principal } from '@devs/core';
import { z } from 'zod';
import { UiError } from '../http/errors.ts';
import { DRAFT, type Draft, maskedDraft } from './Draft.ts';

/** More people and gates than that do not wait for one another. */
const MOST_DRAFTS = 200;

/** A file that is being written has its name sooner: ms. */
const LEFT_BEHIND_MS = 60 * 60 * 1000;

/** Of which version of which gate, and whose. */
export interface DraftKey extends Pick<Gate, 'threadId' | 'sessionId' | 'artifactHash'> {
  readonly by: Principal;
}

const KEPT = z.strictObject({ gate: z.string(), draft: DRAFT });

/**
 * What people have written and not sent, a file each: readable by their owner alone, whole or not at all, and of the version
 * they read. A file that cannot be read is none.
 */
export class DraftFolder {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async read(key: DraftKey): Promise<Draft | null> {
    return (await this.#kept(draftFileName(key)))?.draft ?? null;
  }

  /**
   * @param openGates - Asked where a draft is new: those of other gates are deleted.
   * @returns Whether it is kept: of a gate that is not open, nothing is.
   * @throws UiError `DRAFTS_FULL`
   */
  async write(key: DraftKey, draft: Draft, openGates: () => Promise<ReadonlySet<string>>): Promise<boolean> {
    const name = draftFileName(key);
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const names = await readdir(this.#dir);
    if (!names.includes(name)) {
      const gates = await openGates();
      const left = await this.#sweep(names, gates);
      if (!gates.has(key.sessionId)) return false;
      if (left >= MOST_DRAFTS) throw full();
    }
    await this.#replace(name, JSON.stringify({ gate: key.sessionId, draft: maskedDraft(draft) }));
    return true;
  }

  async remove(key: DraftKey): Promise<void> {
    await rm(join(this.#dir, draftFileName(key)), { force: true });
  }

  async #replace(name: string, text: string): Promise<void> {
    const fresh = join(this.#dir, `${name}.${randomUUID()}`);
    try {
      await writeDraft(fresh, text);
      await rename(fresh, join(this.#dir, name));
    } finally {
      await rm(fresh, { force: true });
    }
  }

  /** Deletes what belongs to no open gate, and what a killed process has left half written. @returns how many stay. */
  async #sweep(names: readonly string[], gates: ReadonlySet<string>): Promise<number> {
    let left = 0;
    for (const name of names) {
      if (await this.#isWanted(name, gates)) left += 1;
      else await rm(join(this.#dir, name), { force: true });
    }
    return left;
  }

  async #isWanted(name: string, gates: ReadonlySet<string>): Promise<boolean> {
    if (name.endsWith('.json')) return gates.has((await this.#kept(name))?.gate ?? '');
    const written = await stat(join(this.#dir, name)).catch(() => null);
    return written !== null && Date.now() - written.mtimeMs < LEFT_BEHIND_MS;
  }

  async #kept(name: string): Promise<z.infer<typeof KEPT> | null> {
    try {
      return KEPT.parse(JSON.parse(await readFile(join(this.#dir, name), 'utf8')));
    } catch {
      return null;
    }
  }
}

/** Says nothing of who writes at what. */
function draftFileName({ threadId, sessionId, artifactHash, by }: DraftKey): string {
  const key = JSON.stringify([threadId, sessionId, artifactHash, by.kind, by.id]);
  return `${createHash('sha256').update(key).digest('hex')}.json`;
}

async function writeDraft(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

const full = (): UiError =>
  new UiError(409, {
    code: 'DRAFTS_FULL',
    message: `There are already ${MOST_DRAFTS} drafts of open gates, so this one is kept only in your tab.`,
    remedy: 'Send this draft, or send or delete others.',
  });
