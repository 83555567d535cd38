import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/** One file, folder or link of an archive; folders come before what is in them. */
interface Entry {
  readonly path: string;
  readonly type: 'file' | 'folder' | 'link';
  readonly mode: number;
  /** Bytes of a file's content, or of a link's target. */
  readonly size: number;
}

/** A folder in one piece: a line of JSON that lists what is in it, then the contents in that order; compressed. */
export function packFolder(dir: string): Buffer {
  const found = [...foundIn(dir, '')];
  const list = JSON.stringify(found.map(([entry]) => entry));
  const bytes = Buffer.concat([Buffer.from(`${list}\n`), ...found.map(([, content]) => content)]);
  return brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
  });
}

/** Lays a packed folder out again, in one that is there and empty. */
export function unpackFolder(archive: Buffer, dir: string): void {
  const bytes = brotliDecompressSync(archive);
  let at = bytes.indexOf('\n') + 1;
  const entries = JSON.parse(bytes.subarray(0, at).toString()) as readonly Entry[];
  for (const entry of entries) {
    layOut(entry, bytes.subarray(at, at + entry.size), dir);
    at += entry.size;
  }
}

function* foundIn(root: string, folder: string): Generator<readonly [Entry, Buffer]> {
  for (const name of readdirSync(join(root, folder)).sort()) {
    const path = folder === '' ? name : `${folder}/${name}`;
    const full = join(root, path);
    const found = lstatSync(full);
    const mode = found.mode & 0o777;
    if (found.isDirectory()) {
      yield [{ path, type: 'folder', mode, size: 0 }, Buffer.alloc(0)];
      yield* foundIn(root, path);
    } else {
      const isLink = found.isSymbolicLink();
      const content = isLink ? Buffer.from(readlinkSync(full)) : readFileSync(full);
      yield [{ path, type: isLink ? 'link' : 'file', mode, size: content.length }, content];
    }
  }
}

function layOut({ path, type, mode }: Entry, content: Buffer, dir: string): void {
  const full = join(dir, path);
  if (type === 'link') {
    symlinkSync(content.toString(), full);
    return;
  }
  if (type === 'folder') mkdirSync(full);
  else writeFileSync(full, content);
  chmodSync(full, mode);
}
