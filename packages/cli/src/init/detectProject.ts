import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { glob } from 'tinyglobby';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ProjectConfigInput } from '../config/ProjectConfig.ts';
import { repositoryAround } from '../config/repositoryAround.ts';
import { usageError } from '../usageError.ts';

type Check = NonNullable<ProjectConfigInput['checks']>[number];

/** What was found in a folder, and the configuration that follows from it. */
export interface DetectedProject {
  readonly isRepository: boolean;
  /** Top folder of the repository that the folder lies in, where that is another one. */
  readonly inRepository: string | null;
  /** `null` without a `package.json`. */
  readonly packageManager: PackageManager | null;
  /** Folders of the packages of a monorepo, relative. */
  readonly packages: readonly string[];
  readonly config: Pick<ProjectConfigInput, 'setup' | 'checks'>;
}

/**
 * Looks for git, the package manager, workspaces and the scripts that judge the work.
 *
 * @throws DevsError `CONFIG_INVALID` when a manifest cannot be read as one.
 */
export async function detectProject(root: string): Promise<DetectedProject> {
  const around = repositoryAround(root);
  const isRepository = around === root;
  const git = { isRepository, inRepository: isRepository ? null : around };
  const manifest = await readPackageJson(root);
  if (manifest === null) return { ...git, packageManager: null, packages: [], config: { checks: [] } };

  const packageManager = packageManagerOf(root, manifest);
  const check = (each: PackageJson, script: string, { name, dir }: CheckFolder): readonly Check[] =>
    hasScript(each, script) ? [{ name, dir, argv: [packageManager, 'run', script] }] : [];
  const packages = await workspacePackages(root, manifest);
  const perPackage = packages.flatMap(({ dir, manifest: each }) =>
    check(each, 'test', { name: each.name ?? dir, dir }),
  );
  // Each package says what failed; a script of the root that tests all of them says only that something did.
  const own = hasScript(manifest, 'test') ? scriptPieces(manifest, 'test', packageManager) : null;
  const whole = (): readonly Check[] => check(manifest, 'test', { name: 'test', dir: '.' });
  const parts = own?.map(({ name, argv }) => ({ name, dir: '.', argv: [...argv] })) ?? whole();
  const tests = perPackage.length > 0 ? perPackage : parts;
  const checks = [...tests, ...check(manifest, 'lint', { name: 'lint', dir: '.' })];
  const needsInstall = packages.length > 0 || hasDependencies(manifest);
  return {
    ...git,
    packageManager,
    packages: packages.map(({ dir }) => dir),
    config: { ...(needsInstall && { setup: [...installCommand(root, packageManager)] }), checks },
  };
}

type CheckFolder = Pick<Check, 'name'> & { readonly dir: string };

function hasDependencies({ dependencies = {}, devDependencies = {} }: PackageJson): boolean {
  return Object.keys(dependencies).length + Object.keys(devDependencies).length > 0;
}

type PackageManager = 'npm' | 'pnpm' | 'yarn';

const LOCKFILES: readonly (readonly [string, PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
];

/** The project's package manager: what `packageManager` names, else whose lockfile lies there, else npm. */
function packageManagerOf(root: string, { packageManager = '' }: PackageJson): PackageManager {
  const [named] = packageManager.split('@');
  if (named === 'npm' || named === 'pnpm' || named === 'yarn') return named;
  const locked = LOCKFILES.find(([file]) => existsSync(path.join(root, file)));
  return locked?.[1] ?? 'npm';
}

/** Installs exactly what the lockfile names; without one there is nothing to be exact about. */
function installCommand(root: string, manager: PackageManager): readonly string[] {
  const isLocked = LOCKFILES.some(([file, of]) => of === manager && existsSync(path.join(root, file)));
  if (!isLocked) return [manager, 'install'];
  switch (manager) {
    case 'npm':
      return ['npm', 'ci'];
    case 'pnpm':
      return ['pnpm', 'install', '--frozen-lockfile'];
    case 'yarn':
      return [
        'yarn',
        'install',
        existsSync(path.join(root, '.yarnrc.yml')) ? '--immutable' : '--frozen-lockfile',
      ];
  }
}

/** What a shell would do more with than start a program. */
const NEEDS_SHELL = /[|;<>$`"'\\*?~(){}[\]!#=]|&/;

export interface ScriptPiece {
  readonly name: string;
  readonly argv: readonly string[];
}

/**
 * The commands of a script such as `xo && ava && tsd`, each to be run by itself; `null` where they would not do the same:
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
  const names = words.map(programName);
  return words.map((argv, at) => {
    const name = names[at] ?? '';
    const isTwice = names.indexOf(name) !== names.lastIndexOf(name);
    return { name: isTwice ? `${name} ${at + 1}` : name, argv: inPackage(argv, manager) };
  });
}

/** A script by its own name, another command by its program. */
function programName(words: readonly string[]): string {
  return words.find((word) => !/^(?:npm|pnpm|yarn|npx|run|run-script|exec)$/.test(word)) ?? '';
}

/** With the programs of the package on PATH, and nothing fetched. */
function inPackage(argv: readonly string[], manager: PackageManager): readonly string[] {
  const [program = ''] = argv;
  if (['npm', 'pnpm', 'yarn', 'node', 'npx'].includes(program)) return argv;
  if (manager === 'npm') return ['npm', 'exec', '--no', '--', ...argv];
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
 * The folder's `package.json`; `null` where there is none.
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

/** What `npm init` writes where there are no tests; it can only fail. */
const PLACEHOLDER = /no test specified/;

/** Whether the package has this script for real. */
function hasScript({ scripts = {} }: PackageJson, name: string): boolean {
  const text = scripts[name];
  return text !== undefined && !PLACEHOLDER.test(text);
}

export interface WorkspacePackage {
  /** Relative to the root, with `/`. */
  readonly dir: string;
  readonly manifest: PackageJson;
}

/**
 * The packages of a monorepo, sorted by folder; none in a repository of one package.
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
