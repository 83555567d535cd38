import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { WorkspacePort } from '@devs/core/internal';
import { folderUnusable, isFolder, makeFolder, replaceText } from './engineFiles.ts';
import { GitRepository, type RefGuard } from './GitRepository.ts';
import { looseObject } from './looseObject.ts';
import { CLAIM, folderTakenOver, moveRefs, readRef } from './refs.ts';
import { LEFT } from './WorkFolder.ts';

/** What the engine keeps of each folder, in the git dir. */
const KEPT = 'devs-folders';

/** Of a folder that is being removed. */
const GONE = '.gone';

/** Of a folder that a driver had to leave behind: its process. */
const HOLDER = 'holder';

export interface RunFoldersOptions {
  /** The path people are shown. */
  readonly link: string;
  readonly gitDir: string;
  /** Per git command, ms. */
  readonly timeoutMs: number | undefined;
}

/** A folder to work in. */
export interface OpenFolder {
  readonly dir: string;
  /** Refs move while this holds. */
  readonly guard: RefGuard;
  /** What the engine keeps of it. */
  readonly kept: string;
  /** The same of the folder whose place it takes, where this one was just made; `null` otherwise. */
  readonly madeFrom: string | null;
  /** There was nothing in it. */
  readonly isNew: boolean;
}

/**
 * The folders of one run: `RUN.EPOCH`, the newest behind the link `RUN`. A driver goes on in the one it finds, when
 * whoever worked there has left it or is provably gone; otherwise it makes its own, and waits for nobody.
 */
export class RunFolders {
  readonly #link: string;
  readonly #root: string;
  readonly #gitDir: string;
  readonly #git: GitRepository;

  constructor({ link, gitDir, timeoutMs }: RunFoldersOptions) {
    this.#link = link;
    this.#root = dirname(link);
    this.#gitDir = gitDir;
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    this.#git = new GitRepository({ gitDir, workTree: gitDir, ...limit });
  }

  /**
   * The folder of a driver, or the newest for somebody who drives nothing.
   *
   * @throws DevsError `LEASE_LOST` for a driver that was replaced, `WORKSPACE_FAILED` for a folder that cannot be made.
   */
  async open(driver: WorkspacePort.Driver | null): Promise<OpenFolder> {
    const found = await readClaim(this.#git);
    const { claim, guard } = driver === null ? found : await this.#claimed(found, driver);
    const name = claim?.folder ?? this.#nameOf(0);
    const dir = join(this.#root, name);
    const isNew = await this.#make(dir, this.#keptOf(name));
    await this.#show(name);
    const from = claim?.from ?? null;
    return {
      dir,
      guard,
      kept: this.#keptOf(name),
      madeFrom: from === null || existsSync(join(this.#keptOf(name), LEFT)) ? null : this.#keptOf(from),
      isNew,
    };
  }

  /** Lets the next driver go on in the folder. */
  async leave({ epoch, holder }: WorkspacePort.Driver): Promise<void> {
    if (!existsSync(this.#gitDir)) return;
    const known = await readClaim(this.#git);
    if (known.claim === null || known.claim.epoch !== epoch || known.claim.holder !== holder) return;
    await writeClaim(this.#git, known, { ...known.claim, holder: null });
  }

  /**
   * Removes the folders that drivers had to leave behind, once their processes are gone.
   *
   * @param current - The one that stays.
   * @param keep - Keeps what somebody changed in such a folder; one whose changes cannot be kept stays.
   */
  async sweep(
    current: OpenFolder,
    { isGone }: WorkspacePort.Driver,
    keep: (folder: Pick<OpenFolder, 'dir' | 'kept'>) => Promise<unknown>,
  ): Promise<void> {
    const names = (await readdir(this.#root)).filter((name) => this.#isOwn(name));
    for (const name of names.filter((each) => each.endsWith(GONE)))
      await removeFolderTree(join(this.#root, name));
    for (const name of names.filter((each) => !each.endsWith(GONE) && each !== basename(current.dir))) {
      const folder = { dir: join(this.#root, name), kept: this.#keptOf(name) };
      const holder = await readFile(join(folder.kept, HOLDER), 'utf8').catch(() => null);
      if (holder === null || !isGone(holder)) continue;
      const isKept = await keep(folder).then(
        () => true,
        () => false,
      );
      if (!isKept) continue;
      await rename(folder.dir, folder.dir + GONE);
      await Promise.all([folder.dir + GONE, folder.kept].map(removeFolderTree));
    }
  }

  /** Removes every folder of the run, and the link to the newest. */
  async removeAll(): Promise<void> {
    const names = await readdir(this.#root).catch(() => []);
    await rm(this.#link, { force: true }).catch(() => removeFolderTree(this.#link));
    for (const name of names.filter((each) => this.#isOwn(each)))
      await removeFolderTree(join(this.#root, name));
  }

  async #claimed(found: KnownClaim, driver: WorkspacePort.Driver): Promise<KnownClaim> {
    const { claim } = found;
    // Asked after the claim was read: whoever replaces this driver from here on changes the claim before it works.
    if (!driver.isCurrent()) throw folderTakenOver(undefined);
    const { epoch, holder } = driver;
    if (claim?.epoch === epoch && claim.holder === holder) return found;
    if (claim !== null && claim.holder !== null && !driver.isGone(claim.holder)) {
      await makeFolder(this.#keptOf(claim.folder));
      await replaceText(join(this.#keptOf(claim.folder), HOLDER), claim.holder);
      const folder = await this.#freeName(epoch);
      return writeClaim(this.#git, found, { epoch, holder, folder, from: claim.folder });
    }
    const { folder, from } = claim ?? { folder: this.#nameOf(0), from: null };
    return writeClaim(this.#git, found, { epoch, holder, folder, from });
  }

  /** Makes the folder, or takes the one that an earlier release made where the link is now. True for a new one. */
  async #make(dir: string, kept: string): Promise<boolean> {
    await makeFolder(kept);
    const found = await lstat(dir).catch(() => null);
    if (found === null && (await isFolder(this.#link))) {
      await rename(join(this.#gitDir, 'devs-left'), join(kept, LEFT)).catch(() => undefined);
      await rename(this.#link, dir);
      return false;
    }
    await makeFolder(dir);
    return found === null;
  }

  /** In one rename: at no moment there is no folder, or half a one. */
  async #show(name: string): Promise<void> {
    if ((await readlink(this.#link).catch(() => null)) === name) return;
    const staged = join(this.#root, `.${randomUUID()}`);
    try {
      await symlink(name, staged, 'dir');
      await rename(staged, this.#link);
    } catch (error) {
      await rm(staged, { force: true });
      throw folderUnusable(this.#link, error);
    }
  }

  /** Of this epoch, or one of a state file that was put back to an earlier one. */
  async #freeName(epoch: number): Promise<string> {
    const taken = new Set(await readdir(this.#root));
    let number = epoch;
    while (taken.has(this.#nameOf(number)) || taken.has(this.#nameOf(number) + GONE)) number += 1;
    return this.#nameOf(number);
  }

  #nameOf(epoch: number): string {
    return `${basename(this.#link)}.${epoch}`;
  }

  #keptOf(name: string): string {
    return join(this.#gitDir, KEPT, name);
  }

  #isOwn(name: string): boolean {
    const run = `${basename(this.#link)}.`;
    return name.startsWith(run) && /^\d+(?:\.gone)?$/.test(name.slice(run.length));
  }
}

const removeFolderTree = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 3 });

/** Who works on a run, and where. */
interface FolderClaim {
  readonly epoch: number;
  /** Name of the folder. */
  readonly folder: string;
  /** Name of the folder it was made from; `null` for the first. */
  readonly from: string | null;
  /** Process of the driver, see `Driver.holder`; `null` once it has left. */
  readonly holder: string | null;
}

/** A claim as it was read; `null` before any driver had the run. */
interface KnownClaim {
  readonly claim: FolderClaim | null;
  /** Holds as long as nobody else has claimed the run. */
  readonly guard: RefGuard;
}

async function readClaim(git: GitRepository): Promise<KnownClaim> {
  const blob = await readRef(git, CLAIM);
  const claim = blob === null ? null : (JSON.parse(await readBlobText(git, blob)) as FolderClaim);
  return { claim, guard: { name: CLAIM, value: blob } };
}

async function readBlobText(git: GitRepository, blob: string): Promise<string> {
  const loose = await looseObject(git.gitDir, blob);
  return loose?.content.toString('utf8') ?? git.run(['cat-file', 'blob', blob]);
}

/**
 * Replaces a claim by another one; from then on whoever holds the former moves no ref.
 *
 * @throws DevsError `LEASE_LOST` if it is not the claim any more.
 */
async function writeClaim(
  git: GitRepository,
  { guard }: KnownClaim,
  claim: FolderClaim,
): Promise<KnownClaim> {
  const blob = (await git.run(['hash-object', '-w', '--stdin'], { stdin: JSON.stringify(claim) })).trim();
  await moveRefs(git, [{ name: CLAIM, from: guard.value, to: blob }]).catch(async (error: unknown) => {
    throw (await readRef(git, CLAIM)) === guard.value ? error : folderTakenOver(error);
  });
  return { claim, guard: { name: CLAIM, value: blob } };
}
