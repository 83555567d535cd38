import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** The folder of a run as every spelling of its path has it: `.devs-work/RUN.0`. */
export const folderName = (dir: string): string => `${basename(dirname(dir))}/${basename(dir)}`;

/** How a file names a folder: in a text, which can be rewritten, in other bytes, or not at all (`null`). */
export async function naming(file: string, folder: string): Promise<'text' | 'bytes' | null> {
  const bytes = await readFile(file);
  if (!bytes.includes(folder)) return null;
  return bytes.includes(0) ? 'bytes' : 'text';
}

/** A text with another folder in the place of one. `RUN.0` is no part of `RUN.01`. */
export function renamed(text: string, from: string, to: string): string {
  const parts = text.split(from);
  return parts.reduce((done, part) => done + (/^[\w-]/.test(part) ? from : to) + part);
}
