import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What the engine may write in a user's repository: its own folders, its branches, and the objects of those. */
const OF_THE_ENGINE = /^(?:\.devs|\.devs-work|\.git\/objects|\.git\/(?:logs\/)?refs\/heads\/devs)(?:\/|$)/;

const ENGINE_FOLDERS = ['.devs', '.devs-work'];

/** Its branches, when somebody packs the refs. */
const PACKED = /^(?:\^.*|.* refs\/heads\/devs\/.*)\n/gm;

/** By path: what stands there, as mode and digest. */
type Snapshot = Readonly<Record<string, string>>;

/**
 * A repository as a user has it: files, index, stashes, hooks. What the user does goes through this class; whatever
 * else changes anything, but for the engine's folders and branches, is found at the user's next step and at the end.
 *
 * @example
 * ```ts
 * const user = UserCheckout.create(dir);
 * user.write('notes.txt', 'mine\n');
 * await run.resume();
 * user.assertUntouched();
 * ```
 */
export class UserCheckout {
  readonly root: string;
  #before: Snapshot;
  #isChanging = false;

  private constructor(root: string) {
    this.root = root;
    this.#before = snapshotOf(root);
  }

  /** Makes a repository of a folder, and of what lies in it already. */
  static create(root: string): UserCheckout {
    gitIn(root, ['init', '-q', '-b', 'main']);
    return UserCheckout.at(root);
  }

  /** A checkout that is there, as it is now; a linked worktree too. */
  static at(root: string): UserCheckout {
    return new UserCheckout(root);
  }

  /** A git command of the user's; may change what it likes. */
  git(...args: readonly string[]): string {
    return this.change(() => gitIn(this.root, args));
  }

  write(path: string, content: string, mode = 0o644): void {
    this.change(() => {
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      writeFileSync(join(this.root, path), content, { mode });
    });
  }

  /** Declares that the user, and nobody else, changes something; several steps at once are read once. */
  change<Result>(work: () => Result): Result {
    if (this.#isChanging) return work();
    this.assertUntouched();
    this.#isChanging = true;
    try {
      return work();
    } finally {
      this.#isChanging = false;
      this.#before = snapshotOf(this.root);
    }
  }

  /** @throws AssertionError naming the paths that are not, to the byte, as the user left them. */
  assertUntouched(): void {
    const now = snapshotOf(this.root);
    const paths = new Set([...Object.keys(this.#before), ...Object.keys(now)]);
    const touched = [...paths].filter((path) => this.#before[path] !== now[path]);
    assert.deepEqual(touched, [], 'the engine touched what is the user’s');
  }
}

function gitIn(cwd: string, args: readonly string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });
}

function snapshotOf(root: string): Snapshot {
  const entries = [...entriesBelow(root, '')].map((path) => [path, standsAt(root, path)]);
  return Object.fromEntries([...entries, ['(git status)', engineStatusOf(root)]]);
}

function* entriesBelow(root: string, folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (OF_THE_ENGINE.test(path)) continue;
    yield path;
    if (entry.isDirectory()) yield* entriesBelow(root, path);
  }
}

function standsAt(root: string, path: string): string {
  const full = join(root, path);
  const found = lstatSync(full);
  const mode = found.mode.toString(8);
  if (found.isSymbolicLink()) return `${mode} ${readlinkSync(full)}`;
  if (!found.isFile()) return mode;
  const content = readFileSync(full);
  const own = path === '.git/packed-refs' ? content.toString().replace(PACKED, '') : content;
  return `${mode} ${createHash('sha256').update(own).digest('hex')}`;
}

/**
 * What git says of the engine's folders, which may only be there as ignored. All else that it could say follows from the
 * files of the snapshot, so git is not asked before there is such a folder. Reading the status must not write the index.
 */
function engineStatusOf(root: string): string {
  const names = readdirSync(root);
  if (!names.includes('.git') || !ENGINE_FOLDERS.some((name) => names.includes(name))) return '';
  const status = ['--no-optional-locks', 'status', '--porcelain=v2', '-z', '--ignored', '--'];
  const entries = gitIn(root, [...status, ...ENGINE_FOLDERS]).split('\0');
  return entries.filter((entry) => !ENGINE_FOLDERS.some((name) => entry === `! ${name}/`)).join('\n');
}
