import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { type FileEdit, isDevsError, type WorkResult } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { unifiedDiff } from '../unifiedDiff.ts';
import { relativePath, resolveInside } from '../workspace/pathJail.ts';
import { nearestLines } from './nearestLines.ts';
import { inFormOf, type Passage, passagesOf, plainText, withPassage } from './textForm.ts';

/** What a tool tells the model that used it wrongly: it is answered to the model, the run does not see it. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal';
}

/** Characters of a file that are shown at once. */
const MAX_SHOWN = 40_000;
const MAX_LISTED = 1_000;
/** Bytes of a file that is opened at all: a larger one is data. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Bytes of a file that is searched. */
const MAX_SEARCHED_BYTES = 1024 * 1024;
/** Places of a passage that are named. */
const MAX_PLACES = 10;
/** Reading puts this in the place of bytes that are not UTF-8. */
const REPLACED = '\uFFFD';

/**
 * The project as one agent sees and edits it: its own edits lie on top of the workspace, which is left alone until the
 * engine applies them. Every path is jailed. It is read with `\n` alone; an edit keeps the line ends, the byte order mark and
 * the final line end of its file.
 *
 * What the agent did wrong is a {@link ToolRefusal}, so that it can do better; anything else is thrown as it is.
 */
export class FileDesk {
  readonly #workspace: WorkspacePort.WorkspaceReader;
  readonly #edits = new Map<string, string | null>();
  readonly #passages: ReadPassage[] = [];

  constructor(workspace: WorkspacePort.WorkspaceReader) {
    this.#workspace = workspace;
  }

  /** What was changed, ready to be proposed. */
  get edits(): readonly FileEdit[] {
    return [...this.#edits].map(([path, content]) => ({ path, content }));
  }

  /** Passages of files that the agent read or was shown, oldest first. */
  get passages(): readonly ReadPassage[] {
    return this.#passages;
  }

  /** Notes a passage that the agent was shown before it read anything. */
  show({ path, fromLine, lines }: ReadPassage): void {
    this.#passages.push({ path, fromLine, lines });
  }

  /** Every path, edits included, sorted. */
  async names(): Promise<readonly string[]> {
    const names = new Set(await this.#workspace.list());
    for (const [path, content] of this.#edits) {
      if (content === null) names.delete(path);
      else names.add(path);
    }
    return [...names].sort();
  }

  /** What a file says; `null` for one that is not worth a search: not there, no text, large, or not to be read. */
  async textOf(path: string): Promise<string | null> {
    const edited = this.#edits.get(path);
    const text = edited === undefined ? await this.#storedText(path) : edited;
    return text === null ? null : plainText(text);
  }

  async #storedText(path: string): Promise<string | null> {
    try {
      const content = await this.#opened(path, MAX_SEARCHED_BYTES);
      return content.includes('\0') ? null : content;
    } catch (error) {
      if (error instanceof ToolRefusal) return null;
      if (isDevsError(error, 'PATH_REFUSED') || isDevsError(error, 'WORKSPACE_FAILED')) return null;
      throw error;
    }
  }

  /** Paths that begin with `prefix`, one a line. */
  async list(prefix = ''): Promise<string> {
    const found = (await this.names()).filter((name) => name.startsWith(prefix));
    if (found.length === 0) return 'There are no files.';
    const more = found.length - MAX_LISTED;
    return [
      ...found.slice(0, MAX_LISTED),
      ...(more > 0 ? [`… and ${more} more; list with a prefix.`] : []),
    ].join('\n');
  }

  /** @param fromLine - 1 is the first. */
  async read(named: string, fromLine = 1): Promise<string> {
    const path = deskPath(named);
    const lines = plainText(await this.#content(path)).split('\n');
    if (fromLine > lines.length) throw new ToolRefusal(`The file has only ${lines.length} lines.`);
    const rest = lines.slice(fromLine - 1).join('\n');
    const shown = rest.slice(0, MAX_SHOWN);
    const count = shown.split('\n').length;
    this.#passages.push({ path, fromLine, lines: count });
    return shown === rest ? rest : `${shown}\n… cut; read on with from_line ${fromLine + count - 1}.`;
  }

  /** @returns the edit as a diff, as {@link replace} and {@link remove} do. */
  async write(named: string, content: string): Promise<EditedFile> {
    const path = deskPath(named);
    const isStored = (await this.#workspace.list()).includes(path);
    const stored = isStored ? await this.#storedText(path) : null;
    const edited = this.#edits.get(path);
    const own = edited ?? stored;
    if (own === stored) await this.#requireUtf8(path, stored ?? '');
    return this.#edit(path, edited === null ? null : own, own === null ? content : inFormOf(own, content));
  }

  /** @throws ToolRefusal unless `find` occurs exactly once, whichever line ends it has. */
  async replace(named: string, find: string, replacement: string): Promise<EditedFile> {
    const path = deskPath(named);
    const content = await this.#content(path);
    await this.#requireUtf8(path, content);
    const [passage, ...others] = passagesOf(content, find);
    if (passage === undefined) {
      const near = nearestLines(plainText(content), plainText(find));
      throw new ToolRefusal(
        `The text to find occurs 0 times in ${path}; it has to occur exactly once. ${near}`,
      );
    }
    if (others.length > 0) throw occursOften(path, content, [passage, ...others]);
    return this.#edit(path, content, withPassage(content, passage, replacement));
  }

  async remove(named: string): Promise<EditedFile> {
    const path = deskPath(named);
    return this.#edit(path, await this.#content(path), null);
  }

  #edit(path: string, before: string | null, after: string | null): EditedFile {
    this.#edits.set(path, after);
    return { path, diff: unifiedDiff(path, before, after) };
  }

  async #content(path: string): Promise<string> {
    const edited = this.#edits.get(path);
    if (edited === null) throw new ToolRefusal(`${path} was deleted.`);
    const content = edited ?? (await this.#stored(path));
    if (content.includes('\0')) throw new ToolRefusal(`${path} is no text file.`);
    return content;
  }

  /** An edit writes the whole file: bytes that were not read could not be kept. */
  async #requireUtf8(path: string, content: string): Promise<void> {
    if (!content.includes(REPLACED) || this.#edits.has(path)) return;
    const bytes = await readFile(await resolveInside(this.#workspace.dir, path)).catch(() => null);
    if (bytes !== null && !isUtf8(bytes)) {
      throw new ToolRefusal(`${path} is not UTF-8: it can be read, not edited.`);
    }
  }

  async #stored(path: string): Promise<string> {
    if (!(await this.#workspace.list()).includes(path)) throw new ToolRefusal(`There is no file ${path}.`);
    return this.#opened(path, MAX_BYTES);
  }

  async #opened(path: string, maxBytes: number): Promise<string> {
    if ((await fileBytes(this.#workspace.dir, path)) > maxBytes) {
      throw new ToolRefusal(`${path} is too large to read.`);
    }
    return this.#workspace.read(path);
  }
}

type ReadPassage = NonNullable<WorkResult['read']>[number];

export interface EditedFile {
  readonly path: string;
  readonly diff: string;
}

function occursOften(path: string, content: string, passages: readonly Passage[]): ToolRefusal {
  const lines = passages.slice(0, MAX_PLACES).map(({ from }) => content.slice(0, from).split('\n').length);
  const more = passages.length > MAX_PLACES ? ', …' : '';
  return new ToolRefusal(
    `The text to find occurs ${passages.length} times in ${path}, in lines ${lines.join(', ')}${more}; it has to occur exactly once.`,
  );
}

/** 0 for a file that lies in no folder of this machine. */
async function fileBytes(dir: string, path: string): Promise<number> {
  const file = await resolveInside(dir, path);
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

function deskPath(named: string): string {
  try {
    return relativePath(named);
  } catch (error) {
    if (isDevsError(error, 'PATH_REFUSED')) throw new ToolRefusal(error.message);
    throw error;
  }
}
