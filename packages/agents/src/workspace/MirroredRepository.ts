import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DevsError } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { type GitSetting, servedAt } from '../git/gitCommand.ts';
import { removePlanted } from './createGitDir.ts';
import { makeFolder, replaceText } from './engineFiles.ts';
import { type GitCall, GitRepository } from './GitRepository.ts';
import { type BranchToDeliver, isAncestor, type LentRepository, UserRepository } from './UserRepository.ts';
import { NOTHING_UNCOMMITTED, type UncommittedFiles } from './uncommittedFiles.ts';
import { readUserSettings } from './userGitDir.ts';

/** The last fetch of each mirror, ended or not. */
const fetching = new Map<string, Promise<void>>();

const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n';

/** Before the first fetch. */
const NOBODYS = 'ref: refs/heads/devs-none\n';

const HEADS = 'refs/heads';

const FETCHED = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--prune'] as const;

const ABSOLUTE = /^(?:https?|ssh|git|file):\/\/[^\s]+$/;

/** Whether a repository is named by a URL, and not by a folder of this machine. */
export const isRepositoryUrl = (repository: string): boolean => ABSOLUTE.test(repository);

export interface MirrorOptions {
  readonly url: string;
  /** Where the copy lies; made when missing. */
  readonly dir: string;
  /** Whether programs of the user's own configuration of git may answer for them. @defaultValue false */
  readonly credentials?: boolean;
  /** Settings and variables of one more credential helper. */
  readonly answering?: Pick<GitCall, 'settings' | 'env'>;
}

/**
 * A repository that every machine reaches by the same URL, with a bare copy of it on this one: commits are read from the
 * copy, and a branch is pushed to the URL. Nobody else writes to the copy; it can be removed at any time.
 */
export class MirroredRepository extends UserRepository {
  readonly #url: string;
  readonly #mirror: GitRepository;
  readonly #credentials: boolean;
  readonly #answering: Pick<GitCall, 'settings' | 'env'>;
  /** The user's own configuration of git, once somebody has asked for it. */
  #user: Promise<readonly GitSetting[]> | null = null;

  private constructor({ url, dir, credentials, answering }: Required<MirrorOptions>) {
    super(dir, { own: dir, common: dir }, dir);
    this.#url = url;
    this.#mirror = new GitRepository({ gitDir: dir, workTree: dir });
    this.#credentials = credentials;
    this.#answering = answering;
  }

  /** @throws DevsError `CONFIG_INVALID` for a URL with a password in it, which would be shown with every fault. */
  static async of(options: MirrorOptions): Promise<MirroredRepository> {
    const { url, dir, credentials = false, answering = {} } = options;
    if (/^[a-z]+:\/\/[^/@]*:[^/@]*@/.test(url)) throw withPassword();
    await makeFolder(dir);
    for (const folder of ['objects', join('refs', 'heads')]) {
      await mkdir(join(dir, folder), { recursive: true, mode: 0o700 });
    }
    await replaceText(join(dir, 'config'), CONFIG);
    await removePlanted(dir);
    if (!existsSync(join(dir, 'HEAD'))) await replaceText(join(dir, 'HEAD'), NOBODYS);
    return new MirroredRepository({ url, dir, credentials, answering });
  }

  override get name(): string {
    return this.#url;
  }

  override async remotes(): Promise<ReadonlyMap<string, string>> {
    return new Map([['origin', this.#url]]);
  }

  /** Of the URL, as it is now; the branch that its `HEAD` names. */
  override async head(): Promise<string | null> {
    await this.#fetch();
    return super.head();
  }

  /** Nothing lies around in a copy. */
  override async uncommitted(): Promise<UncommittedFiles> {
    return NOTHING_UNCOMMITTED;
  }

  /** The copy is ours, and so is its configuration. */
  protected override lend<T>(work: (lent: LentRepository) => Promise<T>): Promise<T> {
    return work({ git: this.#mirror, commonDir: this.#mirror.gitDir });
  }

  override async assertStorable(): Promise<void> {
    await this.#fetch();
    await super.assertStorable();
  }

  /**
   * Makes sure that the copy has a commit.
   *
   * @throws DevsError `WORKSPACE_FAILED` where the repository has it no more.
   */
  async bring(commit: string): Promise<void> {
    if (await this.#has(commit)) return;
    await this.#fetch();
    if (!(await this.#has(commit))) await this.#fetchFrom(commit);
  }

  /**
   * Pushes a branch, if it is there as it was looked at: a driver that was replaced meanwhile, and another one has pushed,
   * is refused. A branch with commits of somebody else stays as it is.
   */
  override async deliver({
    from,
    branch,
    commit,
    delivered,
  }: BranchToDeliver): Promise<WorkspacePort.Delivery> {
    const name = `${HEADS}/${branch}`;
    const there = await this.#branchAt(name);
    if (there === commit) return { branch, commit, held: null };
    const store = new GitRepository({ gitDir: from, workTree: from });
    const isOurs = there === null || there === delivered || (await isAncestor(store, there, commit));
    if (!isOurs) return { branch, commit, held: 'changed' };
    const lease = `--force-with-lease=${name}:${there ?? ''}`;
    const how = ['--quiet', '--no-verify', ...servedAt(this.#url, 'receive-pack'), lease];
    try {
      await this.#reach(['push', ...how, '--', this.#url, `${commit}:${name}`], store);
    } catch (error) {
      const now = await this.#branchAt(name);
      if (now === commit) return { branch, commit, held: null };
      if (now === there) throw error;
      return { branch, commit, held: 'changed' };
    }
    return { branch, commit, held: null };
  }

  /** Not known without asking the network. */
  override async hasOnBranch(): Promise<boolean> {
    return false;
  }

  override async holds(branch: string, commit: string): Promise<boolean> {
    await this.#fetch();
    return super.holds(branch, commit);
  }

  /** Stays: others may see it there, and this machine does not know who. */
  override async removeBranch({
    branch,
  }: {
    readonly branch: string;
  }): Promise<{ readonly name: string; readonly removed: boolean } | null> {
    const there = await this.#branchAt(`${HEADS}/${branch}`);
    return there === null ? null : { name: branch, removed: false };
  }

  /** One at a time in this process; another process may move the same refs meanwhile, and then they are as they should be. */
  #fetch(): Promise<void> {
    const fetched = (fetching.get(this.root) ?? Promise.resolve()).then(() =>
      this.#fetchOnce().catch(() => this.#fetchOnce()),
    );
    fetching.set(
      this.root,
      fetched.catch(() => undefined),
    );
    return fetched;
  }

  async #fetchOnce(): Promise<void> {
    const told = await this.#list(['--symref'], 'HEAD');
    const [, head] = /^ref: (refs\/heads\/\S+)\tHEAD$/m.exec(told) ?? [];
    await this.#fetchFrom(`+${HEADS}/*:${HEADS}/*`);
    if (head !== undefined) await this.#mirror.run(['symbolic-ref', 'HEAD', head]);
  }

  async #branchAt(name: string): Promise<string | null> {
    const told = await this.#list([], name);
    const [id = ''] = told.split('\t');
    return id === '' ? null : id;
  }

  async #has(commit: string): Promise<boolean> {
    const answers = [0, 1, 128];
    return (
      (
        await this.#mirror.run(['rev-parse', '--quiet', '--verify', `${commit}^{commit}`], { answers })
      ).trim() === commit
    );
  }

  #list(options: readonly string[], name: string): Promise<string> {
    return this.#reach([
      'ls-remote',
      ...servedAt(this.#url, 'upload-pack'),
      ...options,
      '--',
      this.#url,
      name,
    ]);
  }

  #fetchFrom(refspec: string): Promise<string> {
    return this.#reach([...FETCHED, ...servedAt(this.#url, 'upload-pack'), '--', this.#url, refspec]);
  }

  async #reach(args: readonly string[], git = this.#mirror): Promise<string> {
    this.#user ??= readUserSettings(this.#mirror);
    const reach = { url: this.#url, user: await this.#user, credentials: this.#credentials };
    return git.run(args, { ...this.#answering, reach, isLarge: true });
  }
}

const withPassword = (): DevsError =>
  new DevsError('The URL of the repository contains a password.', {
    code: 'CONFIG_INVALID',
    remedy: 'Remove it from the URL, and use a git credential helper or a key on every machine.',
  });
