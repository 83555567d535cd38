// Modules of graphs: JavaScript of both kinds as Node.js loads it, and TypeScript.

import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { missingPackage } from '../cluster/loadPostgres.ts';
import { usageError } from '../usageError.ts';

type Exports = Readonly<Record<string, unknown>>;

const TYPESCRIPT = /\.[cm]?tsx?$/;

/**
 * Imports the module of a graph.
 *
 * @param file - Absolute.
 * @throws DevsError `CONFIG_INVALID` for a module that cannot be loaded.
 */
export async function importGraphModule(file: string): Promise<Exports> {
  const { href } = pathToFileURL(file);
  try {
    return (await (TYPESCRIPT.test(file) ? importTypeScript(href) : import(href))) as Exports;
  } catch (error) {
    throw notLoaded(file, error);
  }
}

/** All of TypeScript, on every Node.js: types that are imported without `type`, enums, paths of `tsconfig.json`, `./state.js` for `./state.ts`. */
async function importTypeScript(href: string): Promise<unknown> {
  const { createJiti } = await import('jiti');
  const load = (tsconfigPaths: boolean) =>
    createJiti(href, { fsCache: false, interopDefault: false, jsx: true, tsconfigPaths }).import(href);
  try {
    return await load(true);
  } catch (error) {
    if (!isMissingConfig(error)) throw error;
    return load(false);
  }
}

/** In production, the package that a `tsconfig.json` extends is often not installed. Its paths are in no package. */
const isMissingConfig = (error: unknown): boolean =>
  error instanceof Error && /^File '.+' not found\.$/.test(error.message);

/**
 * An export of a module. Node.js does not find all names of CommonJS.
 *
 * @returns `undefined` if it is missing.
 */
export function exportOf(module: Exports, name: string): unknown {
  return module[name] ?? (Object(module['default']) as Exports)[name];
}

function notLoaded(file: string, error: unknown): Error {
  const missing = missingPackage(error);
  const remedy = missing === null ? 'Repair the module.' : `Run npm install ${missing} in its folder.`;
  return usageError(`${file} cannot be loaded: ${(error as Error).message}`, remedy, error);
}

/** Where a folder finds a module; `null` where it does not. */
export function resolvedFrom(specifier: string, folder: string): string | null {
  try {
    return createRequire(path.join(folder, 'package.json')).resolve(specifier);
  } catch {
    return null;
  }
}
