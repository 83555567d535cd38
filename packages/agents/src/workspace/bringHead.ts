import { join } from 'node:path';
import type { GitRepository } from './GitRepository.ts';
import { linkObjects } from './linkObjects.ts';
import { BASE, moveRef, readRef } from './refs.ts';
import { FETCH, type UserRepository } from './UserRepository.ts';

/**
 * Brings the commit that the user has checked out into a store that has nothing yet, as {@link BASE}: by hard links, and by
 * a fetch, which copies and packs all of it, where there can be none.
 *
 * @param head - What was checked out before this was called.
 */
export async function bringHead(git: GitRepository, user: UserRepository, head: string): Promise<string> {
  const objects = await user.wholeObjects();
  if (objects !== null && (await linkObjects(objects, join(git.gitDir, 'objects')))) {
    await moveRef(git, BASE, { from: await readRef(git, BASE), to: head });
    return head;
  }
  await git.run([...FETCH, user.root, `+HEAD:${BASE}`], { fromPath: true, isLarge: true });
  return (await readRef(git, BASE)) ?? head;
}
