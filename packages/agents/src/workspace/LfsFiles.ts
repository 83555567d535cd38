import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { constants, createReadStream } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, mkdtemp, readFile, rename, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SCRATCH_PREFIX } from './createGitDir.ts';
import type { GitIndex, IndexedFile } from './GitIndex.ts';
import { GitRepository } from './GitRepository.ts';
import { filtersOf } from './uncommittedFiles.ts';
import { linkOnTheWay } from './unstorableFiles.ts';

/** The text that Git LFS stores in the place of a file. */
export interface LfsPointer {
  /** SHA-256 of the file, hex. */
  readonly oid: string;
  readonly bytes: number;
}

/** Longest pointer. */
const MAX_POINTER_BYTES = 1024;

const POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize (\d+)\n$/;

/** Reads a pointer; `null` for another text, and for a pointer to a file that goes through more programs. */
export function pointerIn(text: string): LfsPointer | null {
  const [, oid, bytes] = POINTER.exec(text) ?? [];
  return oid === undefined ? null : { oid, bytes: Number(bytes) };
}

/** Filters with files that git must not store as they lie in a folder: large ones, or secrets. */
const GUARDS = /^lfs$|crypt/i;

const isAttributes = (path: string): boolean => /(?:^|\/)\.gitattributes$/.test(path);

/** Seconds. */
const LATER = 10;

export interface LfsFilesOptions {
  readonly git: GitRepository;
  /** Where contents are kept, as Git LFS does, for all runs of the project. */
  readonly kept: string;
  /** The contents that the user's own Git LFS has; only read. @defaultValue without them */
  readonly lent?: string | undefined;
}

/**
 * Files that the trees of a run have as pointers of Git LFS and its folder as their contents. A content is known by its hash,
 * without a program; the index then has such a file as seen, so trees keep their pointers.
 */
export class LfsFiles {
  readonly #git: GitRepository;
  readonly #kept: string;
  readonly #places: readonly string[];
  /** By the id of a blob, as far as somebody has asked. */
  readonly #pointers = new Map<string, LfsPointer | null>();
  /** By the id of an attributes file. */
  readonly #named = new Map<string, boolean>();

  constructor({ git, kept, lent }: LfsFilesOptions) {
    this.#git = git;
    this.#kept = kept;
    this.#places = [kept, ...(lent === undefined ? [] : [lent])];
  }

  /**
   * Enters the files that have the content of their pointer into an index of the folder: git takes them as unchanged.
   *
   * @param file - An index of the caller's own, as `index` has it.
   */
  async acknowledge(file: string, index: GitIndex): Promise<void> {
    const pointers = await this.#pointersIn(index);
    if (pointers.size === 0) return;
    const stats = await this.#statsOf(pointers);
    for (const path of index.unknown(stats)) {
      const { oid = '' } = pointers.get(path) ?? {};
      const at = join(this.#git.workTree, path);
      if ((await hashOf(at)) === oid) await this.#keep(at, oid);
      else stats.delete(path);
    }
    await index.writeWithStats(file, stats);
    // Git compares the contents of files that are as young as the index. Other young files are not in it.
    const later = Date.now() / 1000 + LATER;
    await utimes(file, later, later);
  }

  /** Puts contents in the place of pointers in the folder, as far as they are known here. */
  async fill(file: string, index: GitIndex): Promise<void> {
    const pointers = await this.#pointersIn(index);
    const staged = join(dirname(file), 'content');
    for (const [path, pointer] of pointers) {
      const target = join(this.#git.workTree, path);
      if ((await linkOnTheWay(this.#git.workTree, path)) !== path) continue;
      if (!(await isPointer(target, pointer))) continue;
      const source = await this.#copied(pointer, staged);
      if (!source) continue;
      await chmod(staged, (await lstat(target)).mode & 0o777);
      await rename(staged, target);
    }
  }

  /**
   * Of some paths, by path, those with a filter that alone can make the version for git.
   *
   * @param index - Has the attributes files.
   */
  async guarded(
    index: GitIndex,
    paths: () => Promise<readonly string[]>,
  ): Promise<ReadonlyMap<string, string>> {
    const filters = await this.filters(index, paths);
    return new Map([...filters].filter(([, filter]) => GUARDS.test(filter)));
  }

  /** Whether a file of the folder is a pointer. */
  isPointer(path: string): Promise<boolean> {
    return isPointer(join(this.#git.workTree, path));
  }

  /** By path: the filters that the attributes of the folder name. */
  async filters(
    { files }: GitIndex,
    paths: () => Promise<readonly string[]>,
  ): Promise<ReadonlyMap<string, string>> {
    if (!(await this.#namesFilter(files))) return new Map();
    const named = await paths();
    // The run's git dir switches all filters off.
    const gitDir = await mkdtemp(join(this.#git.gitDir, SCRATCH_PREFIX));
    try {
      await Promise.all(['objects', 'refs'].map((name) => mkdir(join(gitDir, name))));
      await copyFile(join(this.#git.gitDir, 'HEAD'), join(gitDir, 'HEAD'));
      return await filtersOf(new GitRepository({ gitDir, workTree: this.#git.workTree }), named);
    } finally {
      await rm(gitDir, { recursive: true, force: true });
    }
  }

  async #pointersIn(index: GitIndex): Promise<ReadonlyMap<string, LfsPointer>> {
    const { files } = index;
    if (!(await this.#namesFilter(files))) return new Map();
    await this.#learn(files.map(({ id }) => id).filter((id) => !this.#pointers.has(id)));
    const found = files.flatMap(({ path, id }) => {
      const pointer = this.#pointers.get(id) ?? null;
      return pointer === null ? [] : [[path, pointer] as const];
    });
    return new Map(found);
  }

  /** Whether an attributes file names a filter; only then more is read. */
  async #namesFilter(files: readonly IndexedFile[]): Promise<boolean> {
    for (const { id } of files.filter(({ path }) => isAttributes(path))) {
      const known = this.#named.get(id) ?? /\bfilter=/.test(await this.#git.run(['cat-file', 'blob', id]));
      this.#named.set(id, known);
      if (known) return true;
    }
    return false;
  }

  async #learn(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const stdin = ids.map((id) => `${id}\n`).join('');
    const told = await this.#git.run(['cat-file', '--batch-check=%(objectname) %(objectsize)'], { stdin });
    const small = new Set<string>();
    for (const [, id = '', bytes] of told.matchAll(/^([0-9a-f]{40}) (\d+)$/gm))
      if (Number(bytes) <= MAX_POINTER_BYTES) small.add(id);
    for (const id of ids) if (!small.has(id)) this.#pointers.set(id, null);
    const texts = await this.#git.bytes(['cat-file', '--batch'], {
      stdin: [...small].map((id) => `${id}\n`).join(''),
    });
    for (const [id, text] of blobsIn(texts)) this.#pointers.set(id, pointerIn(text));
  }

  /** Of the files that have the size of their content. */
  async #statsOf(pointers: ReadonlyMap<string, LfsPointer>): Promise<Map<string, BigIntStats>> {
    const stats = new Map<string, BigIntStats>();
    for (const [path, { bytes }] of pointers) {
      const stat = await lstat(join(this.#git.workTree, path), { bigint: true }).catch(() => null);
      if (stat?.isFile() && stat.size === BigInt(bytes)) stats.set(path, stat);
    }
    return stats;
  }

  async #keep(file: string, oid: string): Promise<void> {
    const found = await Promise.all(
      this.#places.map((place) => lstat(placeOf(place, oid)).catch(() => null)),
    );
    if (found.some((each) => each !== null)) return;
    const target = placeOf(this.#kept, oid);
    const staged = `${target}.${process.pid}`;
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await copyFile(file, staged, constants.COPYFILE_FICLONE);
    await rename(staged, target);
  }

  async #copied({ oid }: LfsPointer, to: string): Promise<boolean> {
    for (const place of this.#places) {
      const isThere = await copyFile(placeOf(place, oid), to, constants.COPYFILE_FICLONE).then(
        () => true,
        () => false,
      );
      if (isThere && (await hashOf(to)) === oid) return true;
      await rm(to, { force: true });
    }
    return false;
  }
}

/** As Git LFS has it below `lfs/objects`. */
const placeOf = (folder: string, oid: string): string => join(folder, oid.slice(0, 2), oid.slice(2, 4), oid);

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Whether a file is a pointer; with one, that very one. */
async function isPointer(file: string, pointer?: LfsPointer): Promise<boolean> {
  const stat = await lstat(file).catch(() => null);
  if (stat === null || !stat.isFile() || stat.size > MAX_POINTER_BYTES) return false;
  const found = pointerIn(await readFile(file, 'utf8'));
  return found !== null && (pointer === undefined || found.oid === pointer.oid);
}

/** Of `ID blob SIZE`, a line end, the content and a line end for each. */
function* blobsIn(listed: Buffer): Generator<readonly [id: string, text: string]> {
  for (let at = 0; at < listed.length; ) {
    const end = listed.indexOf('\n', at);
    const [id = '', , size = '0'] = listed.toString('latin1', at, end).split(' ');
    const from = end + 1;
    yield [id, listed.toString('utf8', from, from + Number(size))];
    at = from + Number(size) + 1;
  }
}
