import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// What a user installs: the dependencies of the packages as they are published, each at the version this user gets.

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const PACKAGES = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name));

/** The checkout runs on a Node.js that is too old for what users get, which is installed under a name of its own. */
const OF_USERS: Readonly<Record<string, string>> = { 'better-sqlite3': 'better-sqlite3-13' };

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly scripts?: Readonly<Record<string, string>>;
  /** `false`: npm does not compile, although there is a `binding.gyp`. */
  readonly gypfile?: boolean;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly publishConfig?: { readonly access?: string; readonly engines?: Readonly<Record<string, string>> };
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Where Node.js finds a dependency of the package in `folder`; `undefined` where it is not installed. */
function installed(name: string, folder: string): string | undefined {
  const path = join(folder, 'node_modules', name);
  if (existsSync(path)) return realpathSync(path);
  return folder === dirname(folder) ? undefined : installed(name, dirname(folder));
}

/** The folders of a package and of all it needs to run. */
function closureOf(folder: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(folder)) return found;
  found.add(folder);
  const { dependencies, optionalDependencies, peerDependencies } = manifestOf(folder);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    const ofUsers = OF_USERS[name];
    const at = ofUsers === undefined ? installed(name, folder) : installed(ofUsers, root);
    if (at !== undefined) closureOf(at, found);
  }
  return found;
}

/** What a package manager would run when it installs the package. */
function installScripts(folder: string): readonly string[] {
  const { scripts = {}, gypfile } = manifestOf(folder);
  const named = ['preinstall', 'install', 'postinstall'].filter((name) => scripts[name] !== undefined);
  const isCompiled = gypfile !== false && existsSync(join(folder, 'binding.gyp'));
  return isCompiled ? [...named, 'binding.gyp'] : named;
}

test('no dependency of the published packages has an install script', () => {
  const folders = PACKAGES.flatMap((folder) => [...closureOf(folder)]);
  const withScripts = folders.filter((folder) => installScripts(folder).length > 0);
  expect(withScripts.map((folder) => manifestOf(folder).name)).toEqual([]);
  expect(new Set(folders.map((folder) => manifestOf(folder).name))).toContain('better-sqlite3');
  expect(folders.length).toBeGreaterThan(40);
});

test('the driver of this checkout has one, and is seen to', () => {
  const driver = installed('better-sqlite3', join(root, 'packages/core'));
  expect(installScripts(driver ?? '')).toEqual(['install', 'binding.gyp']);
});

test('users get the driver that is looked at, and this checkout is kept on the older one', () => {
  const workspace = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
  expect(manifestOf(join(root, 'packages/core')).dependencies?.['better-sqlite3']).toBe('catalog:peers');
  expect(/^catalogs:[\s\S]*^ {4}better-sqlite3: (.+)$/m.exec(workspace)?.[1]).toBe('^12.11.1 || ^13');
  expect(manifestOf(installed('better-sqlite3-13', root) ?? '').version).toMatch(/^13\./);
  expect(manifestOf(installed('better-sqlite3', join(root, 'packages/core')) ?? '').version).toBe('12.11.1');
});

test('all packages have one version, and say which Node.js they need where they are published', () => {
  const manifests = PACKAGES.map(manifestOf);
  expect(new Set(manifests.map(({ version }) => version)).size).toBe(1);
  for (const { engines, publishConfig } of manifests) {
    expect(engines).toEqual({ node: '>=20.19' });
    expect(publishConfig).toMatchObject({ access: 'public', engines: { node: '>=22.12' } });
  }
});
