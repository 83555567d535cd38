import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { STATE_FILE } from '@devs/core/internal';
import { configPath } from '../config/configPath.ts';

/**
 * The project that a folder lies in: the nearest folder with a state file or a configuration. Never one above the top of
 * a repository, above the home folder or in it, on another file system, or whose `.devs` is another user's.
 *
 * @param home - `undefined`: there is none.
 * @returns `folder` itself where there is none above it.
 */
export function projectAround(folder: string, home: string | undefined): string {
  if (!existsSync(folder)) return folder;
  const top = home === undefined || !existsSync(home) ? null : realpathSync(home);
  const { dev } = statSync(folder);
  let at = folder;
  while (!hasProject(at)) {
    const above = path.dirname(at);
    const isEnd = above === at || realpathSync(above) === top || realpathSync(at) === top;
    if (isEnd || existsSync(path.join(at, '.git')) || statSync(above).dev !== dev) return folder;
    if (isAnothers(above)) return folder;
    at = above;
  }
  return at;
}

const hasProject = (folder: string): boolean =>
  existsSync(path.join(folder, '.devs', STATE_FILE)) || existsSync(configPath(folder));

function isAnothers(folder: string): boolean {
  const owner = statSync(path.join(folder, '.devs'), { throwIfNoEntry: false })?.uid;
  return owner !== undefined && owner !== process.getuid?.();
}
