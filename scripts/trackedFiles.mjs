// The files of the checkout: tracked and new ones, without what git ignores or what was deleted.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Paths from the root that git's `patterns` match. */
export function trackedFiles(...patterns) {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...patterns];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
}
