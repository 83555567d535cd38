import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileEdit, RunWorkspace, Workspace } from '@devs/core';
import { lineChanges } from '../../../core/test/support/insides.ts';

type CommitView = Awaited<ReturnType<RunWorkspace['log']>>[number];
type CommitRequest = Parameters<RunWorkspace['commit']>[0];
type Changes = Awaited<ReturnType<RunWorkspace['changes']>>;
type Files = Readonly<Record<string, string>>;

interface StoredCommit extends CommitView {
  readonly tree: string;
  readonly stepKey: string;
}

/**
 * A workspace as cheap as one that outlives its process can be: the files in a folder, trees and commits as JSON
 * beside it. What is stored appears by rename, so a kill leaves it or leaves it not.
 */
export class FileWorkspace implements Workspace {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  dirOf(threadId: string): string {
    return join(this.#dir, 'work', threadId);
  }

  async open(threadId: string): Promise<FileRunWorkspace> {
    return new FileRunWorkspace(this.dirOf(threadId), join(this.#dir, 'objects', threadId));
  }
}

export class FileRunWorkspace implements RunWorkspace {
  readonly dir: string;
  readonly #objects: string;

  constructor(dir: string, objects: string) {
    this.dir = dir;
    this.#objects = objects;
    for (const folder of [dir, objects]) mkdirSync(folder, { recursive: true });
  }

  async list(): Promise<readonly string[]> {
    return filesIn(this.dir);
  }

  async read(path: string): Promise<string> {
    return readFileSync(join(this.dir, path), 'utf8');
  }

  async apply(edits: readonly FileEdit[]): Promise<void> {
    for (const { path, content } of edits) {
      const file = join(this.dir, path);
      if (content === null) rmSync(file, { force: true });
      else {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, content);
      }
    }
  }

  async snapshot(): Promise<string> {
    const files = filesIn(this.dir).map((path) => [path, readFileSync(join(this.dir, path), 'utf8')]);
    const tree: Files = Object.fromEntries(files);
    const id = idOf(tree);
    this.#store(`${id}.json`, tree);
    return id;
  }

  async restore(tree: string): Promise<null> {
    const wanted = this.#load(`${tree}.json`) as Files;
    const surplus = filesIn(this.dir).filter((path) => !Object.hasOwn(wanted, path));
    await this.apply(surplus.map((path) => ({ path, content: null })));
    await this.apply(Object.entries(wanted).map(([path, content]) => ({ path, content })));
    return null;
  }

  async commit({ tree, message, stepKey }: CommitRequest): Promise<string> {
    const commits = this.#commits();
    const known = commits.find((commit) => commit.stepKey === stepKey);
    if (known !== undefined) return known.sha;
    const [subject = ''] = message.split('\n');
    const sha = idOf([tree, subject, commits.at(-1)?.sha ?? null]);
    this.#store('commits.json', [...commits, { sha, subject, tree, stepKey }]);
    return sha;
  }

  async log(): Promise<readonly CommitView[]> {
    return this.#commits().map(({ sha, subject }) => ({ sha, subject }));
  }

  async changes(after: string | null): Promise<Changes> {
    const commits = this.#commits();
    const newest = commits.at(-1);
    if (newest === undefined) return null;
    const base = commits.find(({ sha }) => sha === after);
    const before = base === undefined ? {} : (this.#load(`${base.tree}.json`) as Files);
    const files = lineChanges(before, this.#load(`${newest.tree}.json`) as Files);
    return { from: after ?? idOf({}), to: newest.sha, tree: newest.tree, files };
  }

  #commits(): readonly StoredCommit[] {
    return existsSync(join(this.#objects, 'commits.json'))
      ? (this.#load('commits.json') as StoredCommit[])
      : [];
  }

  #load(name: string): unknown {
    return JSON.parse(readFileSync(join(this.#objects, name), 'utf8'));
  }

  #store(name: string, value: unknown): void {
    const scratch = join(this.#objects, `.${name}.${process.pid}`);
    writeFileSync(scratch, JSON.stringify(value));
    renameSync(scratch, join(this.#objects, name));
  }
}

function filesIn(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1))
    .sort();
}

/** 40 hex digits, as git's are. */
function idOf(value: unknown): string {
  return createHash('sha1').update(JSON.stringify(value)).digest('hex');
}
