// Modules of graphs: JavaScript of both kinds, and TypeScript as this Node.js or the project's tsx reads it.

import nodeModule, { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { missingPackage } from '../cluster/loadPostgres.ts';
import { usageError } from '../usageError.ts';

type Exports = Readonly<Record<string, unknown>>;

const TYPESCRIPT = /\.[cm]?tsx?$/;

/** Error codes of TypeScript that needs more than the removal of its types, and of paths that a compiler would map. */
const NEEDS_TSX = new Set<unknown>([
  'ERR_INVALID_TYPESCRIPT_SYNTAX',
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
]);

/**
 * Imports the module of a graph.
 *
 * @param file - Absolute.
 * @throws DevsError `CONFIG_INVALID` for a module that cannot be loaded.
 */
export async function importGraphModule(file: string): Promise<Exports> {
  findTypeScript();
  try {
    return await imported(file, '');
  } catch (error) {
    const isTypeScript = TYPESCRIPT.test(file) && NEEDS_TSX.has(codeOf(error));
    if (!isTypeScript || !(await withTsx(file))) throw notLoaded(file, error);
  }
  try {
    return await imported(file, '?tsx');
  } catch (error) {
    throw notLoaded(file, error);
  }
}

/**
 * An export of a module. Node.js does not find all names of CommonJS.
 *
 * @returns `undefined` if it is missing.
 */
export function exportOf(module: Exports, name: string): unknown {
  return module[name] ?? (Object(module['default']) as Exports)[name];
}

const imported = async (file: string, query: string): Promise<Exports> =>
  (await import(`${pathToFileURL(file).href}${query}`)) as Exports;

function notLoaded(file: string, error: unknown): Error {
  const missing = missingPackage(error);
  const remedy = missing !== null ? `Run npm install ${missing} in its folder.` : remedyFor(file, error);
  return usageError(`${file} cannot be loaded: ${(error as Error).message}`, remedy, error);
}

function remedyFor(file: string, error: unknown): string {
  if (!TYPESCRIPT.test(file) || !NEEDS_TSX.has(codeOf(error))) return 'Repair the module.';
  return 'For all of TypeScript, and the paths of tsconfig.json, run npm install tsx in its folder. Node.js 22.18 and newer read most of it without.';
}

const codeOf = (error: unknown): unknown => (Object(error) as { readonly code?: unknown }).code;

/** Members that not every Node.js has. */
interface NewerModule {
  readonly registerHooks?: (hooks: {
    readonly resolve: (
      specifier: string,
      context: object,
      next: (specifier: string, context: object) => object,
    ) => object;
  }) => unknown;
}

let finds = false;

/** Lets `./state.js` be found where only `./state.ts` is, as compilers want it to be written. */
function findTypeScript(): void {
  if (finds) return;
  finds = true;
  (nodeModule as unknown as NewerModule).registerHooks?.({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND' || !/^\.{1,2}\/.*\.[cm]?js$/.test(specifier))
          throw error;
        return next(specifier.replace(/js$/, 'ts'), context);
      }
    },
  });
}

/** For every module that is loaded from now on. @returns Whether the project has it. */
async function withTsx(file: string): Promise<boolean> {
  const manifest = resolvedFrom('tsx/package.json', path.dirname(file));
  if (manifest === null) return false;
  const ofRequire = createRequire(manifest)('tsx/cjs/api') as { readonly register: () => unknown };
  // `require` cannot resolve this part of tsx.
  const place = path.join(path.dirname(manifest), 'dist', 'esm', 'api', 'index.mjs');
  const ofImport = (await import(pathToFileURL(place).href)) as { readonly register: () => unknown };
  ofRequire.register();
  ofImport.register();
  return true;
}

/** Where a folder finds a module; `null` where it does not. */
export function resolvedFrom(specifier: string, folder: string): string | null {
  try {
    return createRequire(path.join(folder, 'package.json')).resolve(specifier);
  } catch {
    return null;
  }
}
