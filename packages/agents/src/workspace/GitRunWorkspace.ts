import { join } from 'node:path';
import type { AgentCall, CheckResult, FileEdit, RunWorkspace } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { pickEnvironment } from '../process/commandEnvironment.ts';
import { applyEdits } from './applyEdits.ts';
import { BranchRewind } from './BranchRewind.ts';
import { BranchSync, withoutRepository } from './BranchSync.ts';
import { CommitCustoms, type CommitWishes } from './CommitCustoms.ts';
import { CommitDiff } from './CommitDiff.ts';
import {
  adoptedMessage,
  committedBy,
  DEVS,
  foundTree,
  isAdoption,
  messageWith,
  requireAuthor,
  requireObjectId,
  requireOneLine,
  STEP_TRAILER,
  StepCommits,
  signedAt,
  signedBy,
} from './commits.ts';
import { showFolder } from './createGitDir.ts';
import type { GitCall, GitRepository } from './GitRepository.ts';
import { bringHead } from './linkObjects.ts';
import { type Preparation, PreparedFolder } from './PreparedFolder.ts';
import { readInside } from './pathJail.ts';
import { BASE, branchMoved, EMPTY_TREE, givenTree, moveRef, readRef, treeOf } from './refs.ts';
import { RunTrees } from './trees.ts';
import { deliverBranch, submodulesIn, type UserRepository } from './UserRepository.ts';
import { type UncommittedChanges, uncommittedTree } from './uncommittedTree.ts';
import { type FolderChange, WorkFolder, type WorkFolderOptions } from './WorkFolder.ts';

export interface GitRunWorkspaceOptions {
  readonly git: GitRepository;
  /** What the engine keeps of the folder, outside of it. */
  readonly kept: string;
  readonly branch: string;
  /** The repository the run works for; `null` for a run that begins empty. */
  readonly user: UserRepository | null;
  readonly now: () => Date;
  /** Of the tasks' commits. @defaultValue the engine */
  readonly author?: WorkspacePort.Author;
  readonly preparation: Preparation;
  /** Whose uncommitted changes the run begins with. @defaultValue nobody's */
  readonly withChanges?: UncommittedChanges | null;
  readonly wishes?: CommitWishes;
}

interface NewCommit {
  readonly tree: string;
  readonly parent: string | null;
  readonly message: string;
}

/** Variables that lead a signing program to its key. */
const SIGNING = [
  ...['GNUPGHOME', 'GPG_TTY', 'GPG_AGENT_INFO', 'SSH_AUTH_SOCK', 'SSH_ASKPASS', 'SSH_ASKPASS_REQUIRE'],
  ...['XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'WAYLAND_DISPLAY'],
];

/** The folder of one run and its git store, which lies outside the folder. Made by `GitWorkspace.open`. */
export class GitRunWorkspace implements RunWorkspace {
  readonly dir: string;
  readonly #git: GitRepository;
  readonly #branch: string;
  readonly #ref: string;
  readonly #user: UserRepository | null;
  readonly #now: () => Date;
  readonly #author: WorkspacePort.Author;
  readonly #folder: WorkFolder;
  readonly #steps: StepCommits;
  readonly #rewind: BranchRewind;
  readonly #prepared: PreparedFolder;
  readonly #withChanges: UncommittedChanges | null;
  readonly #trees: RunTrees;
  readonly #customs: CommitCustoms;
  readonly #signs: boolean;
  readonly #onActivity: NonNullable<AgentCall['onActivity']> | undefined;

  constructor({
    git,
    kept,
    branch,
    user,
    now,
    author = DEVS,
    preparation,
    withChanges = null,
    wishes = {},
  }: GitRunWorkspaceOptions) {
    this.dir = git.workTree;
    this.#git = git;
    this.#branch = branch;
    this.#ref = `refs/heads/${branch}`;
    this.#user = user;
    this.#now = now;
    this.#withChanges = withChanges;
    this.#author = author;
    this.#onActivity = preparation.onActivity;
    this.#steps = new StepCommits(git);
    this.#customs = new CommitCustoms(git, user, wishes, (paths) => this.#folder.filters(paths));
    this.#signs = wishes.sign ?? false;
    const store: WorkFolderOptions['store'] = (tree, parent, message) =>
      this.#store(tree, parent, `${message}\n`);
    this.#folder = new WorkFolder({ git, kept, tip: () => this.#tip(), store, user });
    this.#prepared = new PreparedFolder({
      folder: this.#folder,
      dir: git.workTree,
      kept,
      givenTree: () => givenTree(git),
      ...preparation,
    });
    this.#trees = new RunTrees(git, (work) => this.#folder.withIndex(work));
    this.#rewind = new BranchRewind({ git, ref: this.#ref, steps: this.#steps, folder: this.#folder, store });
  }

  /** Fills a new folder with what the engine left in another one; see {@link WorkFolder.fill}. */
  fill(kept: string): Promise<void> {
    return this.#folder.fill(kept);
  }

  /**
   * Makes the folder what another machine left; what somebody changed in one that was here is kept first.
   *
   * @param isNew - There is nothing in it.
   */
  async takeUp(tree: string, isNew: boolean): Promise<void> {
    if (isNew) return this.#folder.checkOut(tree);
    if ((await this.left()) !== tree) await this.#folder.restore(tree);
  }

  /** Keeps what somebody changed in a folder that is about to be removed. */
  keepChanges(): Promise<WorkspacePort.Rescue | null> {
    return this.#folder.keepChanges();
  }

  /**
   * Begins the run at the commit the user has checked out: its files come into the folder, then the branch is made.
   * A kill before that lets the next call begin anew. Without a repository, or with one that has no commit yet, the
   * run begins empty.
   */
  async begin(): Promise<void> {
    await showFolder(this.#git);
    if (this.#user === null) return;
    if ((await this.#tip()) !== null) return this.#sync(this.#user).finish();
    const head = await this.#user.head();
    if (head === null) return;
    this.#onActivity?.({ kind: 'doing', what: `reading the repository: ${this.#user.name}` });
    const base = await bringHead(this.#git, this.#user, head);
    await this.#user.submodules(await submodulesIn(this.#git, base));
    const first = (await this.#taken(base, this.#user)) ?? base;
    await this.#folder.checkOut(await treeOf(this.#git, first));
    await moveRef(this.#git, this.#ref, { from: null, to: first });
    await this.#folder.showCommit(first);
  }

  /** A commit with what the user has not committed; `null` where nothing is taken along. */
  async #taken(base: string, user: UserRepository): Promise<string | null> {
    if (this.#withChanges === null) return null;
    const { author, principal } = this.#withChanges;
    const tree = await uncommittedTree(this.#git, base, user);
    if (tree === null) return null;
    return this.#store(tree, base, adoptedMessage('Uncommitted changes of the checkout', principal), author);
  }

  /** Runs the setup command in a folder that it never ran in; see {@link PreparedFolder.begin}. */
  runSetup(signal: AbortSignal): Promise<void> {
    return this.#prepared.begin(signal);
  }

  /**
   * Makes all that git does not hold as setup leaves it for the tree; see {@link PreparedFolder.ready}.
   *
   * @throws DevsError `WORKSPACE_FAILED` when setup fails on inputs that the branch has.
   */
  ready(tree: string, signal: AbortSignal): Promise<CheckResult | null> {
    return this.#prepared.ready(tree, signal);
  }

  /** Files that are not ignored, sorted, relative. */
  list(): Promise<readonly string[]> {
    return this.#folder.list();
  }

  /** @throws DevsError `PATH_REFUSED`, or `WORKSPACE_FAILED` when there is no such file. */
  read(path: string): Promise<string> {
    return readInside(this.dir, path);
  }

  /** @throws DevsError `PATH_REFUSED` for a way out, and for what {@link snapshot} would not hold; nothing is written then. */
  apply(edits: readonly FileEdit[]): Promise<void> {
    const staging = join(this.#git.gitDir, 'devs-staging');
    return applyEdits({ root: this.dir, staging, judge: (all) => this.#folder.refuseUnheld(all) }, edits);
  }

  /**
   * Stores every file that is not ignored; the tree is on disk when this returns. Equal folders give equal ids.
   *
   * @throws DevsError `WORKSPACE_FAILED` when the folder contains another repository.
   */
  snapshot(): Promise<string> {
    return this.#folder.snapshot();
  }

  /** The tree of the last {@link snapshot}, {@link restore} or {@link discard}, whatever lies in the folder by now. */
  left(): Promise<string> {
    return this.#folder.left();
  }

  /**
   * Writes the tree's files and deletes what is neither in it nor ignored by it. What differs from how the engine left
   * the folder is kept first, as a commit under `refs/devs/rescued/`.
   */
  restore(tree: string): Promise<WorkspacePort.Rescue | null> {
    requireObjectId('tree', tree);
    return this.#folder.restore(tree);
  }

  /** {@link restore} after checks ran in the folder: what they left there is nobody's. */
  discard(tree: string): Promise<void> {
    return this.#folder.discard(tree);
  }

  /** The tree of the branch's newest commit; the empty one before the first commit of a run that began empty. */
  async integrated(): Promise<string> {
    const tip = await this.#tip();
    return tip === null ? EMPTY_TREE : treeOf(this.#git, tip);
  }

  /** @throws DevsError `WORKSPACE_FAILED` for a tree that is not stored. */
  async overlay(base: string, from: string, paths: readonly string[]): Promise<string> {
    requireObjectId('base', base);
    requireObjectId('from', from);
    return this.#trees.overlay(base, from, paths);
  }

  async compare(from: string, to: string, maxBytes: number): Promise<WorkspacePort.TreeDiff> {
    requireObjectId('from', from);
    requireObjectId('to', to);
    return this.#trees.compare(from, to, maxBytes);
  }

  async readAt(tree: string, path: string): Promise<string | null> {
    requireObjectId('tree', tree);
    return this.#trees.readAt(tree, path);
  }

  /**
   * One commit per `stepKey`: an earlier one with that key is returned, whatever its tree.
   *
   * @throws DevsError `WORKSPACE_BUSY` when another driver moved the branch meanwhile.
   */
  async commit(request: WorkspacePort.CommitRequest): Promise<string> {
    requireObjectId('tree', request.tree);
    requireOneLine(request.stepKey);
    // Read once: a key that is not in this tip's history is added on this tip or not at all.
    const tip = await this.#tip();
    const commit = (await this.#steps.find(tip, request.stepKey)) ?? (await this.#addCommit(tip, request));
    await this.#folder.showCommit(commit);
    return commit;
  }

  /**
   * Commits the files a person changed in the folder, whole and in their name. What agents left uncommitted in others
   * stays in the folder, and is no part of the branch. `null` when nothing was changed.
   */
  async adopt(request: WorkspacePort.AdoptRequest): Promise<WorkspacePort.AdoptedTree | null> {
    requireAuthor(request.author);
    const change = await this.#folder.changes();
    if (change === null) return null;
    const { found: tree, files } = change;
    // A kill may have come between the commit and the record of it.
    const isDone = await this.isAdopted(tree);
    const commit = isDone ? await this.#tip() : await this.#addAdopted(change, request);
    if (commit === null) return null;
    await this.#folder.snapshot();
    await this.#folder.showCommit(commit);
    return { commit, tree, files };
  }

  async isAdopted(tree: string): Promise<boolean> {
    const tip = await this.#tip();
    if (tip === null) return false;
    const message = (await this.#git.run(['log', '-1', '--format=%B', tip, '--'])).trimEnd().split('\n');
    if (!isAdoption(message)) return false;
    return foundTree(message) === tree || (await treeOf(this.#git, tip)) === tree;
  }

  /**
   * Puts the run's commits, and what lies uncommitted in the folder, on top of the commit the user has checked out now.
   * What they were before stays under `refs/devs/before-sync/`. `null` when the user has committed nothing since.
   *
   * @param recorded - Commits the caller knows the run's steps by. A sync that was killed before its caller recorded it is
   *   told again.
   * @throws DevsError `SYNC_CONFLICT` naming the files, `WORKSPACE_DIRTY` with changes that nobody adopted: nothing is
   *   changed then; `CONFIG_INVALID` in a run without a repository.
   */
  async sync(recorded: readonly string[] = []): Promise<WorkspacePort.Synced | null> {
    if (this.#user === null) throw withoutRepository();
    const sync = this.#sync(this.#user);
    const synced = await sync.toHead();
    const moved = await this.successors(recorded);
    if (synced !== null) return { ...synced, moved };
    return Object.keys(moved).length === 0 ? null : { ...(await sync.last()), moved };
  }

  async successors(commits: readonly string[]): Promise<Readonly<Record<string, string>>> {
    return this.#steps.successors(commits, await this.#tip());
  }

  #sync(user: UserRepository): BranchSync {
    return new BranchSync({ git: this.#git, ref: this.#ref, folder: this.#folder, user });
  }

  /**
   * The branch without the work of some of its commits, computed by merging trees; a commit on top makes it so.
   *
   * @throws DevsError `REWIND_CONFLICT` naming the files, or work the user has taken over; `WORKSPACE_FAILED` when one of the commits is not on the branch.
   */
  withdraw(request: WorkspacePort.WithdrawRequest): Promise<WorkspacePort.BranchMove> {
    return this.#rewind.withdraw(request);
  }

  reinstate(request: WorkspacePort.ReinstateRequest): Promise<WorkspacePort.BranchMove> {
    return this.#rewind.reinstate(request);
  }

  /** The folder as it was is kept as a commit under `refs/devs/before-rewind/`. */
  async follow(move: WorkspacePort.BranchMove): Promise<WorkspacePort.Rescue | null> {
    return this.#rewind.follow(move);
  }

  /** The run's own commits, oldest first. */
  async log(): Promise<readonly WorkspacePort.CommitView[]> {
    const entries = await this.#steps.history(await this.#tip(), ['--reverse', '--format=%H %s']);
    return entries.map((line) => ({ sha: line.slice(0, 40), subject: line.slice(41) }));
  }

  messages(limit: number): Promise<readonly string[]> {
    return this.#customs.messages(limit);
  }

  hook(name: WorkspacePort.HookName): Promise<WorkspacePort.CommitHook | null> {
    return this.#customs.hook(name);
  }

  async commitNotes(): Promise<readonly string[]> {
    return this.#customs.notes(await this.ownTip());
  }

  async changes(after: string | null): Promise<WorkspacePort.Changes | null> {
    const to = await this.ownTip();
    if (to === null) return null;
    const range = { from: after ?? (await readRef(this.#git, BASE)) ?? EMPTY_TREE, to };
    const files = await new CommitDiff(this.#git).files(range);
    return { ...range, tree: await treeOf(this.#git, to), files };
  }

  /** Puts the run's branch into the user's repository; `null` where there is none, or nothing to give. */
  async deliver(): Promise<WorkspacePort.Delivery | null> {
    const commit = await this.ownTip();
    if (this.#user === null || commit === null) return null;
    this.#onActivity?.({ kind: 'doing', what: `delivering ${this.#branch}` });
    return deliverBranch(this.#git, this.#user, { branch: this.#branch, commit });
  }

  /** Whether somebody changed the folder since the engine left it. */
  async hasChanges(): Promise<boolean> {
    return (await this.#folder.changes()) !== null || (await this.#folder.changedInside()).length > 0;
  }

  /** The newest of the run's own commits; `null` where it has none. */
  async ownTip(): Promise<string | null> {
    const tip = await this.#tip();
    return tip === (await readRef(this.#git, BASE)) ? null : tip;
  }

  /** `null` before the first commit of a run that began empty. */
  #tip(): Promise<string | null> {
    return readRef(this.#git, this.#ref);
  }

  async #addCommit(
    parent: string | null,
    { tree, message, stepKey }: WorkspacePort.CommitRequest,
  ): Promise<string> {
    const text = messageWith(`${STEP_TRAILER}${stepKey}`, message);
    const commit = await this.#signed(tree, parent, text);
    try {
      await moveRef(this.#git, this.#ref, { from: parent, to: commit });
      return commit;
    } catch (error) {
      const tip = await this.#tip();
      const winner = await this.#steps.find(tip, stepKey);
      if (winner !== null) return winner;
      if (tip !== parent) throw branchMoved(this.#branch);
      throw error;
    }
  }

  async #addAdopted(
    { left, found }: FolderChange,
    { author, message, principal }: WorkspacePort.AdoptRequest,
  ): Promise<string> {
    const tip = await this.#tip();
    const touched = await this.#folder.differing(left, found);
    const tree = await this.#trees.overlay(await this.integrated(), found, touched);
    const text = adoptedMessage(message, principal, tree === found ? null : found);
    const commit = await this.#store(tree, tip, text, author);
    await moveRef(this.#git, this.#ref, { from: tip, to: commit });
    return commit;
  }

  /** Without a working key the commit is unsigned, and {@link commitNotes} reports it. */
  async #signed(tree: string, parent: string | null, message: string): Promise<string> {
    if (!this.#signs) return this.#store(tree, parent, message, this.#author);
    const call = { readsUser: true, env: { ...committedBy(this.#author), ...pickEnvironment(SIGNING) } };
    return this.#write({ tree, parent, message }, ['-S'], call).catch(() =>
      this.#store(tree, parent, message, this.#author),
    );
  }

  #store(
    tree: string,
    parent: string | null,
    message: string,
    author: WorkspacePort.Author = DEVS,
  ): Promise<string> {
    return this.#write({ tree, parent, message }, [], { env: signedBy(author) });
  }

  async #write(
    { tree, parent, message }: NewCommit,
    options: readonly string[],
    call: Pick<GitCall, 'env' | 'readsUser'>,
  ): Promise<string> {
    const parents = parent === null ? [] : ['-p', parent];
    const env = { ...signedAt(this.#now()), ...call.env };
    const args = ['commit-tree', ...options, tree, ...parents, '-F', '-'];
    const commit = (await this.#git.run(args, { ...call, stdin: message, env })).trim();
    this.#git.trees.set(commit, tree);
    return commit;
  }
}
