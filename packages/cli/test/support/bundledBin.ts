import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePrograms } from '../../../core/test/support/bundlePrograms.ts';

const PACKAGE = new URL('../../', import.meta.url);

/**
 * The command as one JavaScript file, which starts as fast as the published one.
 *
 * @param dir - Gets the layout of the package: the file in `dist/`, its manifest above.
 * @param beside - Sources of programs that the command starts, from the package's folder.
 * @returns The file's path.
 */
export async function bundledBin(dir: string, beside: readonly string[] = []): Promise<string> {
  const [bin = ''] = await bundlePrograms([new URL('src/bin.ts', PACKAGE)], join(dir, 'dist'));
  for (const program of beside) await bundlePrograms([new URL(program, PACKAGE)], join(dir, 'dist'));
  copyFileSync(fileURLToPath(new URL('package.json', PACKAGE)), join(dir, 'package.json'));
  return bin;
}
