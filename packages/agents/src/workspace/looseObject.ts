import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';

const inflateAsync = promisify(inflate);

/** Bytes; what is larger is git's to read. */
const MAX_BYTES = 1024 * 1024;

export interface GitObject {
  readonly kind: string;
  readonly content: Buffer;
}

/**
 * An object that has a file of its own, read from it as git does, without a process. `null` where git has to be asked: it is
 * packed, large, damaged or not there.
 */
export async function looseObject(gitDir: string, id: string): Promise<GitObject | null> {
  try {
    const packed = await readFile(join(gitDir, 'objects', id.slice(0, 2), id.slice(2)));
    const bytes = await inflateAsync(packed, { maxOutputLength: MAX_BYTES });
    if (createHash('sha1').update(bytes).digest('hex') !== id) return null;
    const end = bytes.indexOf(0);
    const [kind = '', size] = bytes.toString('latin1', 0, end).split(' ');
    const content = bytes.subarray(end + 1);
    return Number(size) === content.length ? { kind, content } : null;
  } catch {
    return null;
  }
}

export interface LooseEntry {
  readonly mode: string;
  readonly id: string;
}

/**
 * What a tree or commit has at a path: `found` is `null` for nothing. `null` where git has to be asked, see
 * {@link looseObject}.
 */
export async function looseEntry(
  gitDir: string,
  root: string,
  path: string,
): Promise<{ readonly found: LooseEntry | null } | null> {
  let at: LooseEntry = { mode: FOLDER, id: root };
  for (const name of path.split('/')) {
    if (at.mode !== FOLDER) return { found: null };
    const tree = await looseTree(gitDir, at.id);
    if (tree === null) return null;
    const next = entryOf(tree, name);
    if (next === null) return { found: null };
    at = next;
  }
  return { found: at };
}

const FOLDER = '40000';

const TREE_OF_COMMIT = /^tree ([0-9a-f]{40})\n/;

/** Of a commit, its tree. */
export function treeOfCommit({ kind, content }: GitObject): string | null {
  return kind === 'commit' ? (TREE_OF_COMMIT.exec(content.toString('latin1', 0, 64))?.[1] ?? null) : null;
}

async function looseTree(gitDir: string, id: string): Promise<Buffer | null> {
  const object = await looseObject(gitDir, id);
  if (object?.kind === 'tree') return object.content;
  const tree = object === null ? null : treeOfCommit(object);
  return tree === null ? null : looseTree(gitDir, tree);
}

/** Of `MODE NAME`, a NUL and twenty bytes for each entry. */
function entryOf(tree: Buffer, wanted: string): LooseEntry | null {
  let at = 0;
  while (at < tree.length) {
    const end = tree.indexOf(0, at);
    const space = tree.indexOf(' ', at);
    if (tree.toString('utf8', space + 1, end) === wanted) {
      return { mode: tree.toString('latin1', at, space), id: tree.toString('hex', end + 1, end + 21) };
    }
    at = end + 21;
  }
  return null;
}
