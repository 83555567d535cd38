import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CommitRequest, type CommitView, DevsError, type FileEdit, type RunWorkspace } from '@devs/core';
import { applyEdits } from './applyEdits.ts';
import { SCRATCH_PREFIX } from './createGitDir.ts';
import type { GitRepository } from './GitRepository.ts';
import { writeGitPointer } from './gitPointer.ts';
import { resolveInside } from './pathJail.ts';
import { IDENTITY, moveRef, readRef, signedAt } from './refs.ts';

const STEP_TRAILER = 'Devs-Step: ';

/** Excludes dependencies even when a workspace's own `.gitignore` asks for them. */
const ALL_BUT_DEPENDENCIES = [
  '--',
  '.',
  ':(exclude,glob)**/node_modules',
  ':(exclude,glob)**/node_modules/**',
] as const;

const CLEAN = ['clean', '-ffdq', '-e', 'node_modules'] as const;

export interface GitRunWorkspaceOptions {
  readonly git: GitRepository;
  readonly branch: string;
  readonly now: () => Date;
}

/** The folder of one run and its git store, which lies outside the folder. Made by `GitWorkspace.open`. */
export class GitRunWorkspace implements RunWorkspace {
  readonly dir: string;
  readonly #git: GitRepository;
  readonly #branch: string;
  readonly #now: () => Date;

  constructor({ git, branch, now }: GitRunWorkspaceOptions) {
    this.dir = git.workTree;
    this.#git = git;
    this.#branch = branch;
    this.#now = now;
  }

  /** Files that are not ignored, sorted, relative. */
  list(): Promise<readonly string[]> {
    return this.#withIndex(async (indexFile) => {
      const args = ['ls-files', '-z', '--others', '--exclude-standard', ...ALL_BUT_DEPENDENCIES];
      const names = (await this.#git.run(args, { indexFile })).split('\0');
      return names.filter((name) => name !== '' && !name.endsWith('/')).sort();
    });
  }

  /** @throws DevsError `PATH_REFUSED`, or `WORKSPACE_FAILED` when there is no such file. */
  async read(path: string): Promise<string> {
    const file = await resolveInside(this.dir, path);
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      throw new DevsError(`The workspace file ${JSON.stringify(path)} cannot be read.`, {
        code: 'WORKSPACE_FAILED',
        remedy: 'List the workspace and read a file that is there.',
        cause: error,
      });
    }
  }

  apply(edits: readonly FileEdit[]): Promise<void> {
    return applyEdits({ root: this.dir, staging: join(this.#git.gitDir, 'devs-staging') }, edits);
  }

  /**
   * Stores every file that is not ignored; the tree is on disk when this returns. Equal folders give equal ids.
   *
   * @throws DevsError `WORKSPACE_FAILED` when the folder contains another repository.
   */
  snapshot(): Promise<string> {
    return this.#withIndex(async (indexFile) => {
      await this.#git.run(['add', '--all', ...ALL_BUT_DEPENDENCIES], { indexFile });
      await this.#refuseNestedRepositories(indexFile);
      return (await this.#git.run(['write-tree'], { indexFile })).trim();
    });
  }

  /** Writes the tree's files and deletes what is neither in it nor ignored by it. */
  restore(tree: string): Promise<void> {
    requireObjectId('tree', tree);
    return this.#withIndex(async (indexFile) => {
      await this.#git.run(['read-tree', '--reset', '-u', tree], { indexFile });
      // Ignore files that are not in the tree go first, or they would keep themselves and others.
      await this.#git.run([...CLEAN, '-x', '--', ':(glob)**/.gitignore'], { indexFile });
      await this.#git.run(CLEAN, { indexFile });
    });
  }

  /**
   * One commit per `stepKey`: an earlier one with that key is returned, whatever its tree.
   *
   * @throws DevsError `WORKSPACE_BUSY` when another driver moved the branch meanwhile.
   */
  async commit(request: CommitRequest): Promise<string> {
    requireObjectId('tree', request.tree);
    requireOneLine(request.stepKey);
    // Read once: a key that is not in this tip's history is added on this tip or not at all.
    const tip = await this.#tip();
    const commit = (await this.#findCommit(tip, request.stepKey)) ?? (await this.#addCommit(tip, request));
    await this.#showInFolder(commit);
    return commit;
  }

  /** Empty before the first commit. */
  async log(): Promise<readonly CommitView[]> {
    const entries = await this.#history(await this.#tip(), ['--reverse', '--format=%H %s']);
    return entries.map((line) => ({ sha: line.slice(0, 40), subject: line.slice(41) }));
  }

  /** `null` before the first commit. */
  #tip(): Promise<string | null> {
    return readRef(this.#git, this.#branch);
  }

  async #history(tip: string | null, format: readonly string[]): Promise<readonly string[]> {
    if (tip === null) return [];
    const text = await this.#git.run(['log', '-z', ...format, tip, '--']);
    return text.split('\0').filter((entry) => entry !== '');
  }

  async #findCommit(tip: string | null, stepKey: string): Promise<string | null> {
    // The key stands alone on the last line, so a message that mentions a key cannot be mistaken for one.
    const entries = await this.#history(tip, ['--format=%H %B']);
    const found = entries.find((entry) => entry.trimEnd().endsWith(`\n${STEP_TRAILER}${stepKey}`));
    return found === undefined ? null : found.slice(0, 40);
  }

  async #addCommit(parent: string | null, { tree, message, stepKey }: CommitRequest): Promise<string> {
    const stdin = `${message.trim() || 'Step'}\n\n${STEP_TRAILER}${stepKey}\n`;
    const env = { ...IDENTITY, ...signedAt(this.#now()) };
    const args = ['commit-tree', tree, ...(parent === null ? [] : ['-p', parent]), '-F', '-'];
    const commit = (await this.#git.run(args, { stdin, env })).trim();
    try {
      await moveRef(this.#git, this.#branch, { from: parent, to: commit });
      return commit;
    } catch (error) {
      const tip = await this.#tip();
      const winner = await this.#findCommit(tip, stepKey);
      if (winner !== null) return winner;
      if (tip !== parent) throw this.#busy('the branch moved');
      throw error;
    }
  }

  /** Lets the user's own `git log` and `git status` work in the folder. */
  #showInFolder(commit: string): Promise<void> {
    return this.#withIndex(async (indexFile) => {
      await this.#git.run(['read-tree', commit], { indexFile });
      await rename(indexFile, join(this.#git.gitDir, 'index'));
      await writeGitPointer(this.#git, dirname(indexFile));
    });
  }

  async #refuseNestedRepositories(indexFile: string): Promise<void> {
    const entries = (await this.#git.run(['ls-files', '-z', '--stage'], { indexFile })).split('\0');
    const nested = entries.find((entry) => entry.startsWith('160000 '));
    if (nested === undefined) return;
    const path = nested.slice(nested.indexOf('\t') + 1);
    throw new DevsError(`The workspace contains another git repository: ${JSON.stringify(path)}.`, {
      code: 'WORKSPACE_FAILED',
      remedy: 'Remove the .git folder inside it, so that its files can be stored.',
    });
  }

  async #withIndex<T>(work: (indexFile: string) => Promise<T>): Promise<T> {
    const scratch = await mkdtemp(join(this.#git.gitDir, SCRATCH_PREFIX));
    try {
      return await work(join(scratch, 'index'));
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  #busy(what: string): DevsError {
    return new DevsError(`Another process works on ${this.#branch}: ${what}.`, {
      code: 'WORKSPACE_BUSY',
      remedy: 'Let the process that drives this run finish, then resume.',
    });
  }
}

function requireObjectId(name: string, value: string): void {
  if (/^[0-9a-f]{40}$/.test(value)) return;
  throw new RangeError(`Expected ${name} to be a git object id, got ${JSON.stringify(value)}.`);
}

function requireOneLine(stepKey: string): void {
  if (/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/.test(stepKey)) return;
  throw new RangeError(
    `Expected stepKey to be 1 to 200 printable ASCII characters, got ${JSON.stringify(stepKey)}.`,
  );
}
