import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { glob } from 'tinyglobby';
import { parse } from 'yaml';
import { z } from 'zod';
import { usageError } from '../usageError.ts';
import type { DetectedCheck, DetectedChecks } from './DetectedChecks.ts';
import type { GitFacts } from './gitFacts.ts';

/** A project with a `package.json`. */
export interface NodeProject extends DetectedChecks {
  readonly packageManager: PackageManager;
  /** Folders of the packages of a monorepo, relative. */
  readonly packages: readonly string[];
}

/**
 * The package manager, workspaces, and the scripts that judge the work; `null` without a `package.json`.
 *
 * @throws DevsError `CONFIG_INVALID` when a manifest cannot be read as one.
 */
export async function nodeProject(root: string, git: Pick<GitFacts, 'keeps'>): Promise<NodeProject | null> {
  const manifest = await readPackageJson(root);
  if (manifest === null) return null;
  const packageManager = packageManagerOf(root, manifest);
  const packages = await workspacePackages(root, manifest);
  const needsInstall = packages.length > 0 || hasDependencies(manifest);
  const install = await installCommand(root, packageManager, git);
  return {
    packageManager,
    packages: packages.map(({ dir }) => dir),
    checks: uniquelyNamed(onlyOnce(checksOf(manifest, packages, packageManager))),
    hints: [],
    ...(needsInstall && { setup: [...install] }),
  };
}

/** A check of each package names the package that failed; a script of the root that tests all of them does not. */
function checksOf(
  manifest: PackageJson,
  packages: readonly WorkspacePackage[],
  manager: PackageManager,
): readonly DetectedCheck[] {
  const check = (each: PackageJson, script: string, { name, dir }: CheckFolder): readonly DetectedCheck[] =>
    hasScript(each, script) ? [{ name, dir, argv: [manager, 'run', script] }] : [];
  const perPackage = packages.flatMap(({ dir, manifest: each }) =>
    check(each, 'test', { name: each.name ?? dir, dir }),
  );
  const own = hasScript(manifest, 'test') ? scriptPieces(manifest, 'test', manager) : null;
  const whole = (): readonly DetectedCheck[] => check(manifest, 'test', { name: 'test', dir: '.' });
  const parts = own?.map(({ name, argv }) => ({ name, dir: '.', argv: [...argv] })) ?? whole();
  if (perPackage.length > 0) return [...perPackage, ...check(manifest, 'lint', { name: 'lint', dir: '.' })];
  const isLinted = runsLint(manifest, own === null);
  return [...parts, ...(isLinted ? [] : check(manifest, 'lint', { name: 'lint', dir: '.' }))];
}

const CALLS_LINT = /\b(?:npm|pnpm|yarn|bun)(?: run(?:-script)?)? lint(?![\w:-])/;

/** Whether `test` does all that `lint` does: by its commands or, where it stays whole, by its name. */
function runsLint({ scripts = {} }: PackageJson, isWhole: boolean): boolean {
  const { test = '', lint = '' } = scripts;
  const own = commandsIn(test);
  if (lint !== '' && commandsIn(lint).every((command) => own.includes(command))) return true;
  return isWhole && CALLS_LINT.test(test);
}

const commandsIn = (script: string): readonly string[] =>
  script.split('&&').map((command) => command.trim().replaceAll(/\s+/g, ' '));

/** A script may be a part of another one: `"test": "pnpm lint && vitest run"`. */
function onlyOnce(checks: readonly DetectedCheck[]): readonly DetectedCheck[] {
  const known = new Set<string>();
  return checks.filter(({ dir, argv }) => {
    const key = JSON.stringify([dir, withoutRun(argv)]);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}

/** `pnpm run lint` is `pnpm lint`. */
const withoutRun = ([program, ...words]: readonly string[]): readonly (string | undefined)[] =>
  words[0] === 'run' || words[0] === 'run-script' ? [program, ...words.slice(1)] : [program, ...words];

/** People and agents know a check by its name. */
function uniquelyNamed(checks: readonly DetectedCheck[]): readonly DetectedCheck[] {
  const seen = new Map<string, number>();
  const total = (name: string): number => checks.filter((each) => each.name === name).length;
  return checks.map((check) => {
    if (total(check.name) === 1) return check;
    const at = (seen.get(check.name) ?? 0) + 1;
    seen.set(check.name, at);
    return { ...check, name: `${check.name} ${at}` };
  });
}

type CheckFolder = Pick<DetectedCheck, 'name'> & { readonly dir: string };

function hasDependencies({ dependencies = {}, devDependencies = {} }: PackageJson): boolean {
  return Object.keys(dependencies).length + Object.keys(devDependencies).length > 0;
}

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

const LOCKFILES: readonly (readonly [string, PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
];

/** The project's package manager: by `packageManager`, else by the lockfile that lies there, else npm. */
function packageManagerOf(root: string, { packageManager = '' }: PackageJson): PackageManager {
  const [named] = packageManager.split('@');
  if (named === 'npm' || named === 'pnpm' || named === 'yarn' || named === 'bun') return named;
  const locked = LOCKFILES.find(([file]) => existsSync(path.join(root, file)));
  return locked?.[1] ?? 'npm';
}

/** Installs exactly the packages of the lockfile, where a run has one: git may ignore it. */
async function installCommand(
  root: string,
  manager: PackageManager,
  git: Pick<GitFacts, 'keeps'>,
): Promise<readonly string[]> {
  const own = LOCKFILES.filter(([, of]) => of === manager).map(([file]) => file);
  if ((await git.keeps(own)).length === 0) return [manager, 'install'];
  switch (manager) {
    case 'npm':
      return ['npm', 'ci'];
    case 'pnpm':
    case 'bun':
      return [manager, 'install', '--frozen-lockfile'];
    case 'yarn':
      return [
        'yarn',
        'install',
        existsSync(path.join(root, '.yarnrc.yml')) ? '--immutable' : '--frozen-lockfile',
      ];
  }
}

/** Characters with which a shell does more than start a program. */
const NEEDS_SHELL = /[|;<>$`"'\\*?~(){}[\]!#=]|&/;

interface ScriptPiece {
  readonly name: string;
  readonly argv: readonly string[];
}

/**
 * The commands of a script such as `xo && ava && tsd`, each to be run by itself. `null` where they would not do the same:
 * a script with hooks around it, or one that needs a shell.
 */
function scriptPieces(
  manifest: PackageJson,
  script: string,
  manager: PackageManager,
): readonly ScriptPiece[] | null {
  const text = manifest.scripts?.[script] ?? '';
  if (hasScript(manifest, `pre${script}`) || hasScript(manifest, `post${script}`)) return null;
  const pieces = text.split('&&').map((piece) => piece.trim());
  if (pieces.length < 2 || pieces.some((piece) => piece === '' || NEEDS_SHELL.test(piece))) return null;
  const words = pieces.map((piece) => piece.split(/\s+/));
  if (words.some(([program]) => program === 'cd' || program === 'export')) return null;
  return words.map((argv) => ({ name: programName(argv), argv: inPackage(argv, manager) }));
}

/** A script by its own name, another command by its program. */
function programName(words: readonly string[]): string {
  return words.find((word) => !/^(?:npm|pnpm|yarn|bun|npx|bunx|run|run-script|exec|--)$/.test(word)) ?? '';
}

/** With the programs of the package on PATH, without fetching. */
function inPackage(argv: readonly string[], manager: PackageManager): readonly string[] {
  const [program = ''] = argv;
  if (['npm', 'pnpm', 'yarn', 'bun', 'node', 'npx', 'bunx'].includes(program)) return argv;
  if (manager === 'npm') return ['npm', 'exec', '--no', '--', ...argv];
  if (manager === 'bun') return ['bunx', '--no-install', ...argv];
  return [manager, 'exec', ...(manager === 'yarn' ? ['--'] : []), ...argv];
}

const packageJsonSchema = z.looseObject({
  name: z.string().optional(),
  packageManager: z.string().optional(),
  scripts: z.record(z.string(), z.string()).optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  devDependencies: z.record(z.string(), z.string()).optional(),
  workspaces: z
    .union([z.array(z.string()), z.looseObject({ packages: z.array(z.string()).optional() })])
    .optional(),
});

type PackageJson = Readonly<z.infer<typeof packageJsonSchema>>;

/**
 * The folder's `package.json`; `null` where it is missing.
 *
 * @throws DevsError `CONFIG_INVALID` when it cannot be read as one.
 */
async function readPackageJson(folder: string): Promise<PackageJson | null> {
  const file = path.join(folder, 'package.json');
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return packageJsonSchema.parse(JSON.parse(text));
  } catch (error) {
    throw usageError(
      `${file} is not a valid package.json: ${(error as Error).message}`,
      'Correct the file first.',
      error,
    );
  }
}

/** The script that `npm init` writes for a project without tests; it can only fail. */
const PLACEHOLDER = /no test specified/;

/** Whether the package has this script for real. */
function hasScript({ scripts = {} }: PackageJson, name: string): boolean {
  const text = scripts[name];
  return text !== undefined && !PLACEHOLDER.test(text);
}

interface WorkspacePackage {
  /** Relative to the root, with `/`. */
  readonly dir: string;
  readonly manifest: PackageJson;
}

/**
 * The packages of a monorepo, sorted by folder; empty in a repository of one package.
 *
 * @throws DevsError `CONFIG_INVALID` when a workspace file or a package.json cannot be read as one.
 */
async function workspacePackages(root: string, manifest: PackageJson): Promise<readonly WorkspacePackage[]> {
  const patterns = [...(await pnpmPatterns(root)), ...npmPatterns(manifest)];
  if (patterns.length === 0) return [];
  const files = await glob(
    patterns.map((pattern) => `${pattern.replace(/\/+$/, '')}/package.json`),
    { cwd: root, ignore: ['**/node_modules/**'] },
  );
  const dirs = files.map((file) => path.posix.dirname(file)).filter((dir) => dir !== '.');
  const packages = dirs.sort().map(async (dir) => {
    const found = await readPackageJson(path.join(root, dir));
    return found === null ? [] : [{ dir, manifest: found }];
  });
  return (await Promise.all(packages)).flat();
}

function npmPatterns({ workspaces = [] }: PackageJson): readonly string[] {
  return Array.isArray(workspaces) ? workspaces : (workspaces.packages ?? []);
}

const pnpmWorkspace = z.looseObject({ packages: z.array(z.string()).optional() }).nullable();

async function pnpmPatterns(root: string): Promise<readonly string[]> {
  const file = path.join(root, 'pnpm-workspace.yaml');
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return [];
  try {
    return pnpmWorkspace.parse(parse(text))?.packages ?? [];
  } catch (error) {
    throw usageError(`Cannot read ${file}: ${(error as Error).message}`, 'Correct the file first.', error);
  }
}
