// What a user installs with the packages, read from what is installed here.
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** Names of the published packages of a checkout: folders below packages/, without those that are private. */
export const publishedNames = (checkout = root) =>
  readdirSync(join(checkout, 'packages')).filter(
    (name) => manifestOf(join(checkout, 'packages', name)).private !== true,
  );

/** Folders of the published packages. */
export const PACKAGES = publishedNames().map((name) => join(root, 'packages', name));

/** The checkout runs on a Node.js that is too old for what users get, which is installed under a name of its own. */
const OF_USERS = {
  'better-sqlite3': 'better-sqlite3-13',
  'better-sqlite3-multiple-ciphers': 'better-sqlite3-multiple-ciphers-13',
};

/** Where Node.js finds a dependency of the package in `folder`; `undefined` where it is not installed. */
export function installed(name, folder) {
  const path = join(folder, 'node_modules', name);
  if (existsSync(path)) return realpathSync(path);
  return folder === dirname(folder) ? undefined : installed(name, dirname(folder));
}

function neededBy(
  { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} },
  optional,
) {
  const peers = Object.keys(peerDependencies ?? {});
  const asked = peers.filter((name) => optional || peerDependenciesMeta[name]?.optional !== true);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...asked];
}

/**
 * The folders of a package and of all it needs to run.
 *
 * @param options - `optional`: with the peers that a user may leave out, where they are installed.
 */
export function closureOf(folder, { optional = false } = {}, found = new Set()) {
  if (found.has(folder)) return found;
  found.add(folder);
  for (const name of neededBy(manifestOf(folder), optional)) {
    const at = installed(OF_USERS[name] ?? name, name in OF_USERS ? root : folder);
    if (at !== undefined) closureOf(at, { optional }, found);
  }
  return found;
}

/** What a package manager would run when it installs the package. */
export function installScripts(folder) {
  const { scripts = {}, gypfile } = manifestOf(folder);
  const named = ['preinstall', 'install', 'postinstall'].filter((name) => scripts[name] !== undefined);
  const isCompiled = gypfile !== false && existsSync(join(folder, 'binding.gyp'));
  return isCompiled ? [...named, 'binding.gyp'] : named;
}

/** Of all files of a package, without what is installed in it. */
export function bytesOf(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== 'node_modules');
  return entries.reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? bytesOf(path) : statSync(path).size);
  }, 0);
}
