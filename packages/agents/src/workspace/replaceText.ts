import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';

/** Replaces a small text file in one rename; a link that stands there is replaced, not followed. */
export async function replaceText(file: string, text: string): Promise<void> {
  const staged = `${file}.${randomUUID()}`;
  await writeFile(staged, text, { flag: 'wx' });
  await rename(staged, file);
}
