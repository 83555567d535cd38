import { join } from 'node:path';
import { replaceText } from './replaceText.ts';

/** Keeps the engine's folders out of the user's `git status` and commits; each ignores its content. */
export async function hideFromStatus(...folders: readonly string[]): Promise<void> {
  await Promise.all(folders.map((folder) => replaceText(join(folder, '.gitignore'), '*\n')));
}
