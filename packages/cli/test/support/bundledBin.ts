import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleAlone } from '../../../core/test/support/bundlePrograms.ts';

const PACKAGE = new URL('../../', import.meta.url);
const BIN = 'src/bin.ts';

/**
 * The command as one JavaScript file, which starts as fast as the published one.
 *
 * @param dir - Gets the layout of the package: the file in `dist/`, its manifest above.
 * @param beside - Sources of programs that the command starts, from the package's folder.
 * @returns The file's path.
 */
export async function bundledBin(dir: string, beside: readonly string[] = []): Promise<string> {
  const [bin = ''] = [BIN, ...beside].map((program) => {
    const file = join(dir, 'dist', `${basename(program, '.ts')}.mjs`);
    bundleAlone(fileURLToPath(new URL(program, PACKAGE)), file);
    return file;
  });
  copyFileSync(fileURLToPath(new URL('package.json', PACKAGE)), join(dir, 'package.json'));
  return bin;
}
