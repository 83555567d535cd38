import { join } from 'node:path';
import type { WorkspacePort } from '@devs/core/internal';
import { GitRepository, splitNul } from './GitRepository.ts';
import { EMPTY_TREE } from './refs.ts';

/**
 * How two commits of a run differ, read from its git dir alone. Attributes that the commits contain are not asked: they
 * could declare a file binary, and so hide it from whoever reviews it.
 */
export class CommitDiff {
  readonly #git: GitRepository;
  readonly #noIndex: string;

  constructor({ gitDir }: Pick<GitRepository, 'gitDir'>) {
    this.#git = new GitRepository({ gitDir, workTree: gitDir });
    this.#noIndex = join(gitDir, 'devs-no-index');
  }

  /** By path; renamed files are one removed and one added. */
  async files(range: WorkspacePort.CommitRange): Promise<readonly WorkspacePort.FileChange[]> {
    const listed = await this.#diff(range, ['--numstat', '-z']);
    return splitNul(listed).map(fileChange);
  }

  /** As `git diff` prints it. */
  text(range: WorkspacePort.CommitRange): Promise<string> {
    return this.#diff(range, ['--patch']);
  }

  /** The beginning of {@link text}, whole lines of it: at most so many bytes of UTF-8, what says that it is cut included. */
  async textUpTo(range: WorkspacePort.CommitRange, maxBytes: number): Promise<string> {
    const text = await this.#diff(range, ['--patch'], maxBytes + 1);
    return cutAtLine(text, maxBytes);
  }

  /** What one commit has changed: from its first parent, or from nothing. */
  async rangeOf(commit: string): Promise<WorkspacePort.CommitRange> {
    const listed = await this.#git.run(['rev-list', '--parents', '--max-count=1', objectId(commit), '--']);
    const [, parent = EMPTY_TREE] = listed.trim().split(' ');
    return { from: parent, to: commit };
  }

  /** By path: what {@link text} has no line of. */
  async unshown(range: WorkspacePort.CommitRange): Promise<readonly UnshownFile[]> {
    const binary = (await this.files(range)).filter(({ added }) => added === null);
    if (binary.length === 0) return [];
    const paths = new Set(binary.map(({ path }) => path));
    const blobs = changedBlobs(await this.#diff(range, ['--raw', '-z', '--no-abbrev']));
    // A file whose mode alone has changed has the same content.
    const changed = blobs.filter(({ path, before, after }) => paths.has(path) && before !== after);
    const sizes = await this.#sizes(changed.flatMap(({ before, after }) => [before, after]));
    const contentOf = (blob: string): FileContent | null => {
      const bytes = sizes.get(blob);
      return bytes === undefined ? null : { bytes, blob };
    };
    return changed.map(({ path, before, after }) => ({
      path,
      before: contentOf(before),
      after: contentOf(after),
    }));
  }

  /** Of those that exist: the id of no file has none. */
  async #sizes(blobs: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const listed = await this.#git.run(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
      stdin: blobs.map((blob) => `${blob}\n`).join(''),
    });
    const sized = listed.matchAll(/^([0-9a-f]{40}) (\d+)$/gm);
    return new Map(Array.from(sized, ([, blob = '', bytes]) => [blob, Number(bytes)]));
  }

  #diff(
    { from, to }: WorkspacePort.CommitRange,
    format: readonly string[],
    firstBytes?: number,
  ): Promise<string> {
    const plain = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames'];
    return this.#git.run(['diff', ...plain, ...format, objectId(from), objectId(to), '--'], {
      indexFile: this.#noIndex,
      ...(firstBytes !== undefined && { firstBytes }),
    });
  }
}

function fileChange(line: string): WorkspacePort.FileChange {
  const [added = '', removed = '', ...path] = line.split('\t');
  return { path: path.join('\t'), added: parseDiffCount(added), removed: parseDiffCount(removed) };
}

interface ChangedBlob {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** Of `:MODE MODE ID ID STATUS`, a NUL, the path and a NUL for each file. */
function changedBlobs(raw: string): readonly ChangedBlob[] {
  const found = raw.matchAll(/:\d+ \d+ ([0-9a-f]{40}) ([0-9a-f]{40}) [A-Z]\0([^\0]*)\0/g);
  return Array.from(found, ([, before = '', after = '', path = '']) => ({ path, before, after }));
}

/** Binary files have no lines. */
const parseDiffCount = (text: string): number | null => (text === '-' ? null : Number(text));

function objectId(value: string): string {
  if (/^[0-9a-f]{40}$/.test(value)) return value;
  throw new RangeError(`Expected a git object id, got ${JSON.stringify(value)}.`);
}

const CUT = Buffer.from('[cut: there is more]\n');

/** The first lines of a text, in at most so many bytes of UTF-8; one that is cut says so in its last line. */
function cutAtLine(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const room = maxBytes - CUT.length;
  if (room < 0) return '';
  const end = bytes.subarray(0, room).lastIndexOf('\n') + 1;
  return bytes.toString('utf8', 0, end) + CUT.toString();
}

/** A file that differs between two commits and that git does not show as text: it is binary or contains a NUL byte. */
export interface UnshownFile {
  readonly path: string;
  /** `null` where the commit has no such file. */
  readonly before: FileContent | null;
  readonly after: FileContent | null;
}

interface FileContent {
  readonly bytes: number;
  /** What `git hash-object` prints for it. */
  readonly blob: string;
}
