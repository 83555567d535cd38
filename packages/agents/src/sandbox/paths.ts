import { existsSync, realpathSync } from 'node:fs';
import { relative } from 'node:path';

/** A folder is inside itself. */
export const isInside = (path: string, folder: string): boolean => !relative(folder, path).startsWith('..');

/** Those that exist, without links, each once, an outer folder before an inner one. */
export function realPaths(paths: readonly string[]): readonly string[] {
  const real = paths.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  return [...new Set(real)].sort((a, b) => a.length - b.length);
}
