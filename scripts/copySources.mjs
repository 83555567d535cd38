import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { trackedFiles } from './trackedFiles.mjs';

/** Copies the tracked and the new files of a checkout, without what git ignores. */
export function copySources(root, to) {
  for (const path of trackedFiles(root)) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(root, path), join(to, path), { verbatimSymlinks: true });
  }
}
