import { type FileEdit, isDevsError, type WorkspaceReader } from '@devs/core';
import { relativePath } from '../workspace/pathJail.ts';
import { ToolRefusal } from './ToolRefusal.ts';

/** Characters of a file that are shown at once. */
const MAX_SHOWN = 40_000;
const MAX_LISTED = 1_000;

/**
 * The project as one agent sees and edits it: its own edits lie on top of the workspace, which is left alone until the
 * engine applies them. Every path is jailed.
 *
 * What the agent did wrong is a {@link ToolRefusal}, so that it can do better; anything else is thrown as it is.
 */
export class FileDesk {
  readonly #workspace: WorkspaceReader;
  readonly #edits = new Map<string, string | null>();

  constructor(workspace: WorkspaceReader) {
    this.#workspace = workspace;
  }

  /** What was changed, ready to be proposed. */
  get edits(): readonly FileEdit[] {
    return [...this.#edits].map(([path, content]) => ({ path, content }));
  }

  /** Paths that begin with `prefix`, one a line. */
  async list(prefix = ''): Promise<string> {
    const names = new Set(await this.#workspace.list());
    for (const [path, content] of this.#edits) {
      if (content === null) names.delete(path);
      else names.add(path);
    }
    const found = [...names].filter((name) => name.startsWith(prefix)).sort();
    if (found.length === 0) return 'There are no files.';
    const more = found.length - MAX_LISTED;
    return [
      ...found.slice(0, MAX_LISTED),
      ...(more > 0 ? [`… and ${more} more; list with a prefix.`] : []),
    ].join('\n');
  }

  /** @param fromLine - 1 is the first. */
  async read(named: string, fromLine = 1): Promise<string> {
    const lines = (await this.#content(pathOf(named))).split('\n');
    if (fromLine > lines.length) throw new ToolRefusal(`The file has only ${lines.length} lines.`);
    const rest = lines.slice(fromLine - 1).join('\n');
    if (rest.length <= MAX_SHOWN) return rest;
    const shown = rest.slice(0, MAX_SHOWN);
    return `${shown}\n… cut; read on with from_line ${fromLine + shown.split('\n').length - 1}.`;
  }

  write(named: string, content: string): void {
    this.#edits.set(pathOf(named), content);
  }

  /** @throws ToolRefusal unless `find` occurs exactly once. */
  async replace(named: string, find: string, replacement: string): Promise<void> {
    const path = pathOf(named);
    const content = await this.#content(path);
    const count = content.split(find).length - 1;
    if (count !== 1) {
      throw new ToolRefusal(
        `The text to find occurs ${count} times in ${path}; it has to occur exactly once.`,
      );
    }
    this.#edits.set(
      path,
      content.replace(find, () => replacement),
    );
  }

  async remove(named: string): Promise<void> {
    const path = pathOf(named);
    await this.#content(path);
    this.#edits.set(path, null);
  }

  async #content(path: string): Promise<string> {
    const edited = this.#edits.get(path);
    if (edited === null) throw new ToolRefusal(`${path} was deleted.`);
    const content = edited ?? (await this.#stored(path));
    if (content.includes('\0')) throw new ToolRefusal(`${path} is no text file.`);
    return content;
  }

  async #stored(path: string): Promise<string> {
    if (!(await this.#workspace.list()).includes(path)) throw new ToolRefusal(`There is no file ${path}.`);
    return this.#workspace.read(path);
  }
}

function pathOf(named: string): string {
  try {
    return relativePath(named);
  } catch (error) {
    if (isDevsError(error, 'PATH_REFUSED')) throw new ToolRefusal(error.message);
    throw error;
  }
}
