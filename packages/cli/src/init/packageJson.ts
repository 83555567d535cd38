import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { glob } from 'tinyglobby';
import { parse } from 'yaml';
import { z } from 'zod';
import { usageError } from '../usageError.ts';

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

export type PackageJson = Readonly<z.infer<typeof packageJsonSchema>>;

/**
 * The folder's `package.json`; `null` where there is none.
 *
 * @throws DevsError `CONFIG_INVALID` when it cannot be read as one.
 */
export async function readPackageJson(folder: string): Promise<PackageJson | null> {
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
export function hasScript({ scripts = {} }: PackageJson, name: string): boolean {
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
export async function workspacePackages(
  root: string,
  manifest: PackageJson,
): Promise<readonly WorkspacePackage[]> {
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
