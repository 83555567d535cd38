import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const DEPENDENCIES = 'node_modules';

/**
 * Whether a folder in which git lists no change has something that git would clean away all the same: an ignore file that is
 * not in the tree, which may hide itself, an empty folder, or one with a part of a repository. Dependencies are not looked
 * at. True where it cannot be said.
 *
 * @param held - Paths of the tree.
 */
export async function hasUnlistedEntries(dir: string, held: readonly string[]): Promise<boolean> {
  const files = new Set(held);
  const look = async (folder: string): Promise<boolean> => {
    const entries = await readdir(join(dir, folder), { withFileTypes: true });
    if (entries.length === 0 && folder !== '') return true;
    for (const entry of entries) {
      const { name } = entry;
      if (name === DEPENDENCIES || (folder === '' && name === '.git')) continue;
      const path = folder === '' ? name : `${folder}/${name}`;
      // Git folds case where the file system does.
      if (/^\.git(?:ignore)?$/i.test(name) && !files.has(path)) return true;
      if (entry.isDirectory() && (await look(path))) return true;
    }
    return false;
  };
  // Git is not asked about dependencies, not even those that are in the tree.
  if (held.some((path) => path.split('/').includes(DEPENDENCIES))) return true;
  return look('').catch(() => true);
}
