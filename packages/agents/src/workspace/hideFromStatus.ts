import { join } from 'node:path';
import { replaceText } from './replaceText.ts';

/** Keeps folders of the engine out of the user's `git status` and commits: each ignores all that is in it. */
export async function hideFromStatus(...folders: readonly string[]): Promise<void> {
  await Promise.all(folders.map((folder) => replaceText(join(folder, '.gitignore'), '*\n')));
}
