import { readFile } from 'node:fs/promises';
import path from 'node:path';
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
