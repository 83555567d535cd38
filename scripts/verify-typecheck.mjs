// `tsc --noEmit` at the root must read every source, test and example: a file it does not list is never checked.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = join(root, 'node_modules', '.bin', 'tsc');
const SKIPPED = /(^|\/)(node_modules|dist|out)\//;

function typescriptIn(folder) {
  if (!existsSync(join(root, folder))) return [];
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.[cm]?ts$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !SKIPPED.test(path));
}

const listed = execFileSync(tsc, ['--noEmit', '--listFilesOnly'], { cwd: root, encoding: 'utf8' });
const read = new Set(listed.split('\n').map((line) => relative(root, line.trim()).replaceAll('\\', '/')));
const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
const areas = packages.flatMap((name) => ['src', 'test', 'bench'].map((area) => `${name}/${area}`));
const sources = [...areas, 'examples'].flatMap(typescriptIn);
const unread = sources.filter((path) => !read.has(path));

for (const path of unread) process.stderr.write(`not type-checked: ${path}\n`);
process.stdout.write(`type check: ${sources.length} files, ${unread.length} unread\n`);
process.exitCode = unread.length === 0 && sources.length > 0 ? 0 : 1;
