import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { EMPTY_TREE } from './refs.ts';

/** Of an entry in the second version of git's index: where its parts begin, bytes. */
const [MODE, SIZE, ID, NAME] = [24, 36, 40, 62];
const [HEADER, HASH, ALIGNMENT] = [12, 20, 8];

/** Of an extension: its name and how long it is. */
const EXTENSION = 8;

/** The extension that says which trees the entries are. */
const TREE = 'TREE';

/** Of an entry that is a repository of its own. */
const REPOSITORY = 0o160000;

/** A file, as an index has it. */
export interface IndexedFile {
  readonly path: string;
  /** Of its content. */
  readonly id: string;
}

/** What git's index of a folder says, read without a process: its files, and the tree that they are. */
export class GitIndex {
  readonly #bytes: Buffer;
  /** Where each entry begins. */
  readonly #entries: readonly number[];
  /** Where they end. */
  readonly #end: number;
  readonly #extensions: ReadonlyMap<string, Buffer>;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const entries: number[] = [];
    let at = HEADER;
    for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
      entries.push(at);
      const end = bytes.indexOf(0, at + NAME);
      at += (Math.floor((end - at) / ALIGNMENT) + 1) * ALIGNMENT;
    }
    this.#entries = entries;
    this.#end = at;
    this.#extensions = extensionsIn(bytes.subarray(at, bytes.length - HASH));
  }

  /** @throws RangeError for an index that is damaged, or that the engine's git has not written. */
  static async read(file: string): Promise<GitIndex> {
    const bytes = await readFile(file);
    const form = bytes.length < HEADER + HASH ? '' : bytes.toString('latin1', 0, 4) + bytes.readUInt32BE(4);
    if (form !== 'DIRC2')
      throw new RangeError(`Expected an index of version 2, got ${JSON.stringify(form)}.`);
    const end = bytes.length - HASH;
    if (!digestOf(bytes.subarray(0, end)).equals(bytes.subarray(end)))
      throw new RangeError(`Expected a whole index, got a damaged one: ${file}`);
    return new GitIndex(bytes);
  }

  /** In the order of git, which is that of their bytes. */
  get paths(): readonly string[] {
    return this.#entries.map((at) => this.#pathAt(at));
  }

  /** Files and links, without repositories. */
  get files(): readonly IndexedFile[] {
    return this.#entries.filter((at) => !this.#isRepository(at)).map((at) => this.#entryAt(at));
  }

  /** Repositories of their own: the commit of each, by path. */
  get repositories(): ReadonlyMap<string, string> {
    const found = this.#entries.filter((at) => this.#isRepository(at)).map((at) => this.#entryAt(at));
    return new Map(found.map(({ path, id }) => [path, id]));
  }

  /** The tree of all entries; `null` where git has not noted it, or an entry has changed since. */
  get tree(): string | null {
    if (this.#entries.length === 0) return EMPTY_TREE;
    const noted = this.#extensions.get(TREE);
    if (noted === undefined) return null;
    // The top has no name; then how many entries it has, -1 for a tree that has changed, and how many folders.
    const head = /^\0(-?\d+) \d+\n/.exec(noted.toString('latin1', 0, 64));
    if (head === null || Number(head[1]) !== this.#entries.length) return null;
    return noted.toString('hex', head[0].length, head[0].length + HASH);
  }

  /**
   * Writes it without what it knows of files that changed in a second or later, so that git reads these when it is asked next.
   *
   * Git compares the times of files by whole seconds. One that changed in the second in which it was looked at can change in
   * it once more, keep its size, and get an old time of modification from anybody: it would count as unchanged for ever. Nobody
   * sets the time of change that is looked at here, so what the index still knows afterwards it knows rightly.
   *
   * @param second - Whole, by the clock of the file system.
   */
  async writeWithoutYoung(file: string, second: number): Promise<void> {
    const bytes = Buffer.from(this.#bytes.subarray(0, -HASH));
    // Git takes a size of nothing, where the file in the index has some, for a file that it has never looked at.
    for (const at of this.#entries) if (bytes.readUInt32BE(at) >= second) bytes.writeUInt32BE(0, at + SIZE);
    await writeFile(file, [bytes, digestOf(bytes)]);
  }

  /**
   * Writes it as if git had looked at some files as they are now, and had found the content of the index in each.
   *
   * @param stats - By path.
   */
  async writeWithStats(file: string, stats: ReadonlyMap<string, BigIntStats>): Promise<void> {
    const bytes = Buffer.from(this.#bytes.subarray(0, -HASH));
    for (const at of this.#entries) {
      const found = stats.get(this.#pathAt(at));
      if (found !== undefined)
        for (const [place, value] of statFields(found)) bytes.writeUInt32BE(value, at + place);
    }
    await writeFile(file, [bytes, digestOf(bytes)]);
  }

  /** Of some files, by path, those that are not as git has looked at them. */
  unknown(stats: ReadonlyMap<string, BigIntStats>): ReadonlySet<string> {
    const due = new Set(stats.keys());
    for (const at of this.#entries) {
      const stat = stats.get(this.#pathAt(at));
      const isKnown =
        stat && statFields(stat).every(([place, value]) => this.#bytes.readUInt32BE(at + place) === value);
      if (isKnown) due.delete(this.#pathAt(at));
    }
    return due;
  }

  /** Whether both have the same files with the same contents, however they were found. */
  hasFilesOf(other: GitIndex): boolean {
    const [ours, theirs] = [this.#entries, other.#entries];
    const isSame = (at: number, there: number | undefined): boolean =>
      there !== undefined && this.#fileAt(at).equals(other.#fileAt(there));
    return ours.length === theirs.length && ours.every((at, place) => isSame(at, theirs[place]));
  }

  /** Writes it with the tree that another one with the same files has noted. */
  async writeWithTreeOf(file: string, other: GitIndex): Promise<void> {
    const noted = other.#extensions.get(TREE) ?? Buffer.alloc(0);
    const head = Buffer.from(`${TREE}\0\0\0\0`, 'latin1');
    head.writeUInt32BE(noted.length, TREE.length);
    const bytes = Buffer.concat([this.#bytes.subarray(0, this.#end), head, noted]);
    await writeFile(file, [bytes, digestOf(bytes)]);
  }

  /** Mode, and id to path; what is between them is when and where git has looked. */
  #fileAt(entry: number): Buffer {
    const [mode, rest] = [entry + MODE, entry + ID];
    const end = this.#bytes.indexOf(0, entry + NAME);
    return Buffer.concat([this.#bytes.subarray(mode, mode + 4), this.#bytes.subarray(rest, end)]);
  }

  #isRepository(entry: number): boolean {
    return this.#bytes.readUInt32BE(entry + MODE) === REPOSITORY;
  }

  #entryAt(entry: number): IndexedFile {
    return { path: this.#pathAt(entry), id: this.#bytes.toString('hex', entry + ID, entry + ID + HASH) };
  }

  #pathAt(entry: number): string {
    return this.#bytes.toString('utf8', entry + NAME, this.#bytes.indexOf(0, entry + NAME));
  }
}

/** By name. @throws RangeError for one without which the entries are not all, or are no files. */
function extensionsIn(bytes: Buffer): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    if (!/^[A-Z]/.test(name))
      throw new RangeError(`Expected an index that stands alone, got one with ${name}.`);
    const end = at + EXTENSION + bytes.readUInt32BE(at + 4);
    found.set(name, bytes.subarray(at + EXTENSION, end));
    at = end;
  }
  return found;
}

/** The state of a file as an index has it, in 32 bits each: where in the entry, and the value. */
function statFields(stat: BigIntStats): readonly (readonly [place: number, value: number])[] {
  const { ctimeNs, mtimeNs, dev, ino, uid, gid, size } = stat;
  const times = [ctimeNs, mtimeNs].flatMap((ns) => [ns / NS, ns % NS]);
  const low = [...times, dev, ino].map((value, at) => [at * 4, Number(BigInt.asUintN(32, value))] as const);
  const high = [uid, gid, size].map(
    (value, at) => [MODE + 4 + at * 4, Number(BigInt.asUintN(32, value))] as const,
  );
  return [...low, ...high];
}

/** In a second. */
const NS = 1_000_000_000n;

const digestOf = (bytes: Buffer): Buffer => createHash('sha1').update(bytes).digest();
