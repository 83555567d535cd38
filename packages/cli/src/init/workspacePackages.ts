import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { glob } from 'tinyglobby';
import { parse } from 'yaml';
import { z } from 'zod';
import { usageError } from '../usageError.ts';
import { type PackageJson, readPackageJson } from './packageJson.ts';

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
