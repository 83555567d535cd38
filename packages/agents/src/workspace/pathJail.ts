import type { Stats } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { DevsError } from '@devs/core';

/** Bytes; the smallest limit of the usual file systems. */
const MAX_COMPONENT_BYTES = 255;
const MAX_PATH_BYTES = 1024;

/** Folders that belong to git and to the engine, and the short names Windows gives them. */
const RESERVED = new Set(['.git', '.devs', '.devs-work', 'git~1', 'devs~1']);

// Invisible or direction-changing characters; some file systems drop them, so `.g\u200dit` would become `.git`.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Why a path is refused, first match wins. */
const WHOLE_PATH_RULES: readonly (readonly [reason: string, broken: (path: string) => boolean])[] = [
  ['it is empty', (path) => path === ''],
  ['it contains a control or invisible character', (path) => INVISIBLE.test(path)],
  ['it contains a backslash', (path) => path.includes('\\')],
  ['it contains a colon', (path) => path.includes(':')],
  ['it is absolute', (path) => isAbsolute(path)],
  ['it is not in Unicode form NFC', (path) => path !== path.normalize('NFC')],
  [`it is longer than ${MAX_PATH_BYTES} bytes`, (path) => Buffer.byteLength(path) > MAX_PATH_BYTES],
];

const COMPONENT_RULES: readonly (readonly [reason: string, broken: (name: string) => boolean])[] = [
  ['it has an empty component', (name) => name === ''],
  ['it leaves the workspace', (name) => foldPathName(name) === ''],
  ['it names a folder of git or of the engine', (name) => RESERVED.has(foldPathName(name))],
  ['a component ends with a dot or a space', (name) => /[. ]$/.test(name)],
  ['a component begins with a space', (name) => name.startsWith(' ')],
  ['a component begins with "~"', (name) => name.startsWith('~')],
  [
    `a component is longer than ${MAX_COMPONENT_BYTES} bytes`,
    (name) => Buffer.byteLength(name) > MAX_COMPONENT_BYTES,
  ],
];

/**
 * Resolves a path of an agent to an absolute path inside `root`.
 *
 * Every existing component below `root` is checked with `lstat`: folders must be real folders and the last one a
 * regular file or missing, so links are not followed. The check is valid for its moment; only a sandbox stops a
 * parallel process that swaps folders for links.
 *
 * @param root - Absolute; its own components are trusted.
 * @throws DevsError `PATH_REFUSED`; the workspace is unchanged then.
 *
 * @example
 * ```ts
 * await resolveInside('/srv/run', './src/index.js'); // → '/srv/run/src/index.js'
 * await resolveInside('/srv/run', 'src/../../etc/passwd'); // PATH_REFUSED: it leaves the workspace
 * ```
 */
export async function resolveInside(root: string, path: string): Promise<string> {
  const components = safeComponents(path);
  let current = root;
  for (const [index, name] of components.entries()) {
    current = join(current, name);
    const found = await lstatOrNull(current);
    if (found === null) break;
    const broken = brokenEntry(found, index === components.length - 1);
    if (broken !== null) throw pathRefused(path, broken);
  }
  return join(root, ...components);
}

/**
 * The one spelling of a path that an agent named (`./src//a.js` is refused, `./src/a.js` is `src/a.js`), judged by its
 * text alone.
 *
 * @throws DevsError `PATH_REFUSED`
 */
export function relativePath(path: string): string {
  return safeComponents(path).join('/');
}

function safeComponents(path: string): readonly string[] {
  const whole = WHOLE_PATH_RULES.find(([, broken]) => broken(path));
  if (whole !== undefined) throw pathRefused(path, whole[0]);
  const components = path.split('/').filter((name) => name !== '.');
  if (components.length === 0) throw pathRefused(path, 'it names the workspace itself');
  for (const name of components) {
    const rule = COMPONENT_RULES.find(([, broken]) => broken(name));
    if (rule !== undefined) throw pathRefused(path, rule[0]);
  }
  return components;
}

/** The name as the most forgiving file system sees it: any case, any width, trailing dots and spaces dropped. */
function foldPathName(name: string): string {
  return name
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, '');
}

function brokenEntry(found: Stats, isLast: boolean): string | null {
  if (found.isSymbolicLink()) return 'it goes through a symbolic link';
  if (isLast) return found.isFile() ? null : 'something that is no regular file stands there';
  return found.isDirectory() ? null : 'a component of it is a file';
}

async function lstatOrNull(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function pathRefused(path: string, reason: string): DevsError {
  return new DevsError(`The path ${quotePath(path)} is refused: ${reason}.`, {
    code: 'PATH_REFUSED',
    remedy: 'Name a file inside the workspace by a plain relative path such as "src/index.js".',
  });
}

function quotePath(path: string): string {
  return JSON.stringify(path.length > 120 ? `${path.slice(0, 120)}…` : path);
}

/**
 * The text of a file in a run's folder.
 *
 * @throws DevsError `PATH_REFUSED`, or `WORKSPACE_FAILED` when there is no such file.
 */
export async function readInside(dir: string, path: string): Promise<string> {
  const file = await resolveInside(dir, path);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new DevsError(`The workspace file ${JSON.stringify(path)} cannot be read.`, {
      code: 'WORKSPACE_FAILED',
      remedy: 'List the workspace and read a file that is there.',
      cause: error,
    });
  }
}
