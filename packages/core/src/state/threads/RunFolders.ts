import path from 'node:path';
import type { Database, Statement } from 'better-sqlite3';
import { originOf } from '../../db/copyInMemory.ts';
import { prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { ENDED_SQL as ENDED, type Thread } from './threadRecords.ts';

const SELECT_LIVE = `
  SELECT thread_id FROM threads
  WHERE workspace IN (SELECT value FROM json_each(?)) AND thread_id <> ? AND status NOT IN ${ENDED}`;

/** The folders that runs work in: one live run each. */
export class RunFolderStore {
  readonly #stateFolders: readonly string[];
  readonly #selectLive: Statement<[string, string], string>;

  constructor(db: Database) {
    this.#stateFolders = stateFoldersOf(db);
    this.#selectLive = prepare<[string, string], string>(db, SELECT_LIVE).pluck();
  }

  /** The absolute path of a run's folder, wherever the state file lies now; `null` without one. */
  pathOf({ workspace }: Pick<Thread, 'workspace'>): string | null {
    return workspace === null ? null : path.resolve(this.#stateFolders[0] ?? '', workspace);
  }

  /** @throws DevsError `WORKSPACE_BUSY` if another live run works in the folder of this one. */
  assertFree({ threadId, workspace }: Pick<Thread, 'threadId' | 'workspace'>): void {
    if (workspace === null) return;
    const names = workspaceNames(workspace, this.#stateFolders);
    const other = this.#selectLive.get(JSON.stringify(names), threadId);
    if (other === undefined) return;
    throw new DevsError(`The folder "${this.pathOf({ workspace })}" is in use by run "${other}".`, {
      code: 'WORKSPACE_BUSY',
      remedy: `Wait until run "${other}" has ended, cancel it, or use another folder for this run.`,
      context: { threadId, other },
    });
  }
}

const SELECT_FILE = "SELECT file FROM pragma_database_list WHERE name = 'main'";

/**
 * The folder that a state file lies in, as its opener and as SQLite names it: SQLite follows symbolic links. None for a
 * database in memory.
 */
export function stateFoldersOf(db: Database): readonly string[] {
  const origin = originOf(db);
  if (origin === null) return [];
  const file = prepare<[], string | null>(db, SELECT_FILE).pluck().get() || origin;
  return [...new Set([origin, file].map((name) => path.dirname(path.resolve(name))))];
}

/**
 * What a run's folder is called in the state file. In the state folder or beside it, it is named from there, with forward
 * slashes: a project that is moved, or mounted elsewhere, keeps its runs. Any other folder keeps its absolute path.
 *
 * ```ts
 * workspaceName('/p/.devs-work/csv', '/p/.devs'); // '../.devs-work/csv'
 * ```
 */
export function workspaceName(folder: string, stateFolder: string): string {
  const relative = path.relative(stateFolder, folder);
  const steps = relative.split(path.sep);
  const isFar = path.isAbsolute(relative) || (steps[0] === '..' && steps[1] === '..');
  return isFar ? folder : steps.join('/') || '.';
}

/** Every name under which the folder of `name` may be recorded, that one included. */
export function workspaceNames(name: string, stateFolders: readonly string[]): readonly string[] {
  const pathsOf = (known: string): readonly string[] =>
    stateFolders.map((stateFolder) => path.resolve(stateFolder, known));
  const names = pathsOf(name).flatMap((folder) => stateFolders.map((state) => workspaceName(folder, state)));
  return [...new Set([name, ...names, ...names.flatMap(pathsOf)])];
}
