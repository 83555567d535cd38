import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * What a ref points to (`id`: `null` for no such ref), read from its file as git itself does, without a process: git
 * replaces the file in one rename. `null` where git has to be asked: somebody packed the refs, or the file says more.
 */
export async function looseRef(gitDir: string, name: string): Promise<{ readonly id: string | null } | null> {
  const text = await readFile(join(gitDir, name), 'latin1').catch(({ code }: NodeJS.ErrnoException) =>
    code === 'ENOENT' ? null : '',
  );
  if (text !== null) return /^[0-9a-f]{40}\n$/.test(text) ? { id: text.slice(0, 40) } : null;
  // Asked after the file: whoever packs a ref writes the pack before the file goes.
  const isAllLoose = existsSync(join(gitDir, 'HEAD')) && !existsSync(join(gitDir, 'packed-refs'));
  return isAllLoose ? { id: null } : null;
}
