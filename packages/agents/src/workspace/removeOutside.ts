import { chmod, lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeTree } from '../process/removeTree.ts';

/** With all that is in it; folders that may not be written are opened first. */
export async function removeOutside(at: string): Promise<void> {
  await removeTree(at).catch(async () => {
    await openFolders(at);
    await removeTree(at);
  });
}

async function openFolders(at: string): Promise<void> {
  await chmod(dirname(at), 0o700);
  if (!(await lstat(at)).isDirectory()) return;
  await chmod(at, 0o700);
  for (const name of await readdir(at)) await openFolders(join(at, name));
}
