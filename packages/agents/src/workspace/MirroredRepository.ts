import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Delivery, DevsError } from '@devs/core';
import { GitRepository } from './GitRepository.ts';
import { makeFolder } from './makeFolder.ts';
import { replaceText } from './replaceText.ts';
import { type BranchToDeliver, UserRepository } from './UserRepository.ts';

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

/**
 * A repository that every machine reaches by the same URL, with a bare copy of it on this one: commits are read from the
 * copy, and a branch is pushed to the URL. Nobody else writes to the copy; it can be removed at any time.
 */
export class MirroredRepository extends UserRepository {
  readonly #url: string;
  readonly #mirror: GitRepository;

  private constructor(url: string, dir: string) {
    super(dir, dir);
    this.#url = url;
    this.#mirror = new GitRepository({ gitDir: dir, workTree: dir });
  }

  /**
   * @param dir - Where the copy lies; made when missing.
   * @throws DevsError `CONFIG_INVALID` for a URL with a password in it, which would be shown with every fault.
   */
  static async of(url: string, dir: string): Promise<MirroredRepository> {
    if (/^[a-z]+:\/\/[^/@]*:[^/@]*@/.test(url)) throw withPassword();
    await makeFolder(dir);
    for (const folder of ['objects', join('refs', 'heads')]) {
      await mkdir(join(dir, folder), { recursive: true, mode: 0o700 });
    }
    await replaceText(join(dir, 'config'), CONFIG);
    if (!existsSync(join(dir, 'HEAD'))) await replaceText(join(dir, 'HEAD'), NOBODYS);
    return new MirroredRepository(url, dir);
  }

  override get name(): string {
    return this.#url;
  }

  /** Of the URL, as it is now; the branch that its `HEAD` names. */
  override async head(): Promise<string | null> {
    await this.#fetch();
    return super.head();
  }

  /** Nothing lies around in a copy. */
  override async uncommitted(): Promise<readonly string[]> {
    return [];
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
    if (!(await this.#has(commit))) await this.#reach([...FETCHED, '--', this.#url, commit]);
  }

  /**
   * Pushes a branch, if it is there as it was looked at: a driver that was replaced meanwhile, and another one has pushed,
   * is refused. A branch with commits of somebody else stays as it is.
   */
  override async deliver({ from, branch, commit, delivered }: BranchToDeliver): Promise<Delivery> {
    const name = `${HEADS}/${branch}`;
    const there = await this.#branchAt(name);
    if (there === commit) return { branch, commit, held: null };
    const store = new GitRepository({ gitDir: from, workTree: from });
    const isOurs = there === null || there === delivered || (await isAncestorIn(store, there, commit));
    if (!isOurs) return { branch, commit, held: 'changed' };
    const lease = `--force-with-lease=${name}:${there ?? ''}`;
    const push = ['push', '--quiet', '--no-verify', lease, '--', this.#url, `${commit}:${name}`];
    try {
      await store.run(push, { isRemote: true, isLarge: true });
    } catch (error) {
      const now = await this.#branchAt(name);
      if (now === commit) return { branch, commit, held: null };
      if (now === there) throw error;
      return { branch, commit, held: 'changed' };
    }
    return { branch, commit, held: null };
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
    const told = await this.#reach(['ls-remote', '--symref', '--', this.#url, 'HEAD']);
    const [, head] = /^ref: (refs\/heads\/\S+)\tHEAD$/m.exec(told) ?? [];
    await this.#reach([...FETCHED, '--', this.#url, `+${HEADS}/*:${HEADS}/*`]);
    if (head !== undefined) await this.#mirror.run(['symbolic-ref', 'HEAD', head]);
  }

  async #branchAt(name: string): Promise<string | null> {
    const told = await this.#reach(['ls-remote', '--', this.#url, name]);
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

  #reach(args: readonly string[]): Promise<string> {
    return this.#mirror.run(args, { isRemote: true, isLarge: true });
  }
}

async function isAncestorIn(git: GitRepository, older: string, newer: string): Promise<boolean> {
  return (await git.run(['merge-base', older, newer]).catch(() => '')).trim() === older;
}

const withPassword = (): DevsError =>
  new DevsError('The URL of the repository has a password in it.', {
    code: 'CONFIG_INVALID',
    remedy: 'Take it out, and let a credential helper of git, or a key, give it on every machine.',
  });
