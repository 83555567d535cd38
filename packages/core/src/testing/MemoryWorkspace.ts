import type {
  Changes,
  CommitRequest,
  CommitView,
  FileEdit,
  Rescue,
  RunWorkspace,
  Workspace,
} from '../orchestration/ports.ts';
import { hashOf } from '../state/canonicalJson.ts';
import { lineChanges } from './lineChanges.ts';

type Files = ReadonlyMap<string, string>;

/** As git's: a run that begins empty begins with it. */
const EMPTY_TREE = hashOf({});

/** A workspace without a disk: trees and commits are kept in memory, addressed by content as git's are. */
export class MemoryWorkspace implements Workspace {
  readonly #runs = new Map<string, MemoryRunWorkspace>();

  dirOf(threadId: string): string {
    return `/memory/${threadId}`;
  }

  async open(threadId: string): Promise<MemoryRunWorkspace> {
    const known = this.#runs.get(threadId) ?? new MemoryRunWorkspace(this.dirOf(threadId));
    this.#runs.set(threadId, known);
    return known;
  }
}

export class MemoryRunWorkspace implements RunWorkspace {
  readonly dir: string;
  readonly #trees = new Map<string, Files>();
  readonly #commits: (CommitView & { readonly stepKey: string; readonly tree: string })[] = [];
  #files: Files = new Map();

  constructor(dir: string) {
    this.dir = dir;
  }

  async list(): Promise<readonly string[]> {
    return [...this.#files.keys()].sort();
  }

  async read(path: string): Promise<string> {
    const content = this.#files.get(path);
    if (content === undefined) throw new RangeError(`There is no file "${path}" in the workspace.`);
    return content;
  }

  async apply(edits: readonly FileEdit[]): Promise<void> {
    const files = new Map(this.#files);
    for (const { path, content } of edits) {
      if (content === null) files.delete(path);
      else files.set(path, content);
    }
    this.#files = files;
  }

  async snapshot(): Promise<string> {
    const tree = hashOf(Object.fromEntries(this.#files));
    this.#trees.set(tree, this.#files);
    return tree;
  }

  /** Nobody else can change it: nothing has to be kept. */
  async restore(tree: string): Promise<Rescue | null> {
    const files = this.#trees.get(tree);
    if (files === undefined) throw new RangeError(`There is no tree "${tree}" in the workspace.`);
    this.#files = files;
    return null;
  }

  async commit({ tree, message, stepKey }: CommitRequest): Promise<string> {
    const known = this.#commits.find((commit) => commit.stepKey === stepKey);
    if (known !== undefined) return known.sha;
    const sha = hashOf({ tree, message, parent: this.#commits.at(-1)?.sha ?? null });
    this.#commits.push({ sha, subject: message.split('\n')[0] ?? '', stepKey, tree });
    return sha;
  }

  async log(): Promise<readonly CommitView[]> {
    return this.#commits.map(({ sha, subject }) => ({ sha, subject }));
  }

  async changes(after: string | null): Promise<Changes | null> {
    const newest = this.#commits.at(-1);
    if (newest === undefined) return null;
    const base = this.#commits.find(({ sha }) => sha === after)?.tree ?? EMPTY_TREE;
    const { sha: to, tree } = newest;
    const files = lineChanges(this.#contentOf(base), this.#contentOf(tree));
    return { from: after ?? EMPTY_TREE, to, tree, files };
  }

  #contentOf(tree: string): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#trees.get(tree) ?? []);
  }
}
