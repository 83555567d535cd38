import path from 'node:path';
import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { DevsError } from '../errors/DevsError.ts';
import type { Thread } from './threadRecords.ts';
import { ENDED } from './threadSql.ts';
import { stateFoldersOf, workspaceNames } from './workspaceName.ts';

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
