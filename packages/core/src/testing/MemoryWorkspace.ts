import { DevsError } from '../errors/DevsError.ts';
import type {
  BranchMove,
  Changes,
  CommitRequest,
  CommitView,
  FileChange,
  FileEdit,
  ReinstateRequest,
  Rescue,
  RunWorkspace,
  TreeDiff,
  WithdrawRequest,
  Workspace,
} from '../orchestration/ports.ts';
import { hashOf } from '../values/canonicalJson.ts';

type MemoryFiles = ReadonlyMap<string, string>;

interface MemoryCommit extends CommitView {
  readonly stepKey: string;
  readonly tree: string;
}

const NO_FILES: MemoryFiles = new Map();

/** As git's: a run that begins empty begins with it. */
const EMPTY_TREE = memoryTree(NO_FILES);

/** A workspace in memory: trees and commits are addressed by content, as in git. */
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

  async readAt(threadId: string, tree: string, path: string): Promise<string | null> {
    return (await this.open(threadId)).readAt(tree, path);
  }
}

export class MemoryRunWorkspace implements RunWorkspace {
  readonly dir: string;
  readonly #trees = new Map<string, MemoryFiles>([[EMPTY_TREE, NO_FILES]]);
  readonly #commits: MemoryCommit[] = [];
  /** Commits of moves that may be made, by their SHA. */
  readonly #planned = new Map<string, MemoryCommit>();
  /** Trees of the folder before each move, by its id. */
  readonly #kept = new Map<string, string>();
  #files: MemoryFiles = NO_FILES;

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
    return this.#keep(this.#files);
  }

  /** Nobody else can change it: nothing has to be kept. */
  async restore(tree: string): Promise<Rescue | null> {
    this.#files = this.#filesOf(tree);
    return null;
  }

  /** Sets the branch back to its first commits, as a copy of it from then would have it. Trees stay known. */
  truncate(commits: number): void {
    this.#commits.length = Math.min(commits, this.#commits.length);
  }

  async integrated(): Promise<string> {
    return this.#commits.at(-1)?.tree ?? EMPTY_TREE;
  }

  async overlay(base: string, from: string, paths: readonly string[]): Promise<string> {
    const [files, others] = [new Map(this.#filesOf(base)), this.#filesOf(from)];
    for (const path of paths) {
      const content = others.get(path);
      if (content === undefined) files.delete(path);
      else files.set(path, content);
    }
    return this.#keep(files);
  }

  /** Whole files are shown as removed and added. */
  async compare(from: string, to: string, maxBytes: number): Promise<TreeDiff> {
    const [before, after] = [Object.fromEntries(this.#filesOf(from)), Object.fromEntries(this.#filesOf(to))];
    const files = lineChanges(before, after);
    return {
      files,
      diff: cutTextAt(maxBytes, files.map(({ path }) => wholeFile(path, before, after)).join('')),
    };
  }

  async readAt(tree: string, path: string): Promise<string | null> {
    return this.#filesOf(tree).get(path) ?? null;
  }

  async commit({ tree, message, stepKey }: CommitRequest): Promise<string> {
    const known = this.#commits.find((commit) => commit.stepKey === stepKey);
    if (known !== undefined) return known.sha;
    const commit = this.#commitOf(tree, message, stepKey);
    this.#commits.push(commit);
    return commit.sha;
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

  /** Whole files are taken out, not lines. */
  async withdraw({ id, commits, begun, message }: WithdrawRequest): Promise<BranchMove> {
    let files = this.#filesOf(this.#commits.at(-1)?.tree ?? EMPTY_TREE);
    for (const [at, { sha, stepKey, tree }] of [...this.#commits.entries()].toReversed()) {
      if (!commits.includes(sha) && !begun.includes(stepKey)) continue;
      const before = at === 0 ? EMPTY_TREE : (this.#commits[at - 1]?.tree ?? EMPTY_TREE);
      files = withoutChanges(files, this.#filesOf(before), this.#filesOf(tree));
    }
    const tree = this.#keep(files);
    return this.#plan(id, message, { tree, folder: tree });
  }

  async reinstate({ id, move, message }: ReinstateRequest): Promise<BranchMove> {
    const folder = this.#kept.get(move.id);
    if (folder === undefined || this.#tip !== move.to) throw memoryConflict('the branch has moved');
    const tree = this.#commits.find(({ sha }) => sha === move.from)?.tree ?? EMPTY_TREE;
    return this.#plan(id, message, { tree, folder });
  }

  async follow({ id, to, folder }: BranchMove): Promise<Rescue | null> {
    if (!this.#kept.has(id)) this.#kept.set(id, this.#keep(this.#files));
    const planned = this.#planned.get(to ?? '');
    if (planned !== undefined && this.#tip !== to) this.#commits.push(planned);
    return this.restore(folder);
  }

  get #tip(): string | null {
    return this.#commits.at(-1)?.sha ?? null;
  }

  #plan(id: string, message: string, { tree, folder }: { tree: string; folder: string }): BranchMove {
    const from = this.#tip;
    if (from === null || tree === this.#commits.at(-1)?.tree) return { id, from, to: from, folder };
    const commit = this.#commitOf(tree, message, id);
    this.#planned.set(commit.sha, commit);
    return { id, from, to: commit.sha, folder };
  }

  #commitOf(tree: string, message: string, stepKey: string): MemoryCommit {
    const sha = hashOf({ tree, message, parent: this.#tip });
    return { sha, subject: message.split('\n')[0] ?? '', stepKey, tree };
  }

  #keep(files: MemoryFiles): string {
    const tree = memoryTree(files);
    this.#trees.set(tree, files);
    return tree;
  }

  /** A commit names its tree, as with git. */
  #filesOf(tree: string): MemoryFiles {
    const files = this.#trees.get(this.#commits.find(({ sha }) => sha === tree)?.tree ?? tree);
    if (files === undefined) throw new RangeError(`There is no tree "${tree}" in the workspace.`);
    return files;
  }

  #contentOf(tree: string): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#trees.get(tree) ?? []);
  }
}

function memoryTree(files: MemoryFiles): string {
  return hashOf(Object.fromEntries(files));
}

type Contents = Readonly<Record<string, string>>;

function wholeFile(path: string, before: Contents, after: Contents): string {
  const lines = (sign: string, content = ''): string =>
    content.replaceAll(/^.*\n?/gm, (line) => line && `${sign}${line.trimEnd()}\n`);
  return `--- a/${path}\n+++ b/${path}\n${lines('-', before[path])}${lines('+', after[path])}`;
}

function cutTextAt(maxBytes: number, text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const end = bytes.subarray(0, maxBytes).lastIndexOf('\n') + 1;
  return `${bytes.toString('utf8', 0, end)}[cut]\n`;
}

/** `files` without what changed from `before` to `after`. */
function withoutChanges(files: MemoryFiles, before: MemoryFiles, after: MemoryFiles): MemoryFiles {
  const result = new Map(files);
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(path), after.get(path)];
    if (old === now) continue;
    if (files.get(path) !== now) throw memoryConflict(`${path} was changed by commits that stay`);
    if (old === undefined) result.delete(path);
    else result.set(path, old);
  }
  return result;
}

const memoryConflict = (what: string): DevsError =>
  new DevsError(`The work cannot be taken out: ${what}.`, {
    code: 'REWIND_CONFLICT',
    remedy: 'Go back further; nothing was changed.',
  });

type FilesByPath = Readonly<Record<string, string>>;

/** The files in which two folders differ, with the lines that only one of them has. */
export function lineChanges(before: FilesByPath, after: FilesByPath): readonly FileChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return paths
    .filter((path) => before[path] !== after[path])
    .map((path) => {
      const [old, now] = [linesOf(before[path]), linesOf(after[path])];
      return { path, added: countOnlyIn(now, old), removed: countOnlyIn(old, now) };
    });
}

const linesOf = (content = ''): readonly string[] => content.split('\n').slice(0, -1);

const countOnlyIn = (lines: readonly string[], others: readonly string[]): number =>
  lines.filter((line) => !others.includes(line)).length;
