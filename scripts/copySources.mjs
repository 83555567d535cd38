import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Copies the tracked and the new files of a checkout, without what git ignores. */
export function copySources(root, to) {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  for (const path of listed.split('\0').filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(root, path), join(to, path), { verbatimSymlinks: true });
  }
}
