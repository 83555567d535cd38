import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { publishedNames } from './published.mjs';
import { run } from './runProgram.mjs';

/** Packs what was built in `checkout` as it is published. @returns the path of the tarball of each package, by its folder's name */
export async function packAll({ checkout, to, env }) {
  mkdirSync(to, { recursive: true });
  const tarballs = {};
  for (const name of publishedNames(checkout)) {
    const cwd = join(checkout, 'packages', name);
    await run(['pnpm', 'pack', '--pack-destination', to], { cwd, env });
    tarballs[name] = join(
      to,
      readdirSync(to).find((file) => file.startsWith(`devs-${name}-`)),
    );
  }
  return tarballs;
}

/** The text of the `package.json` in a tarball. */
export const packedManifest = (tarball) =>
  execFileSync('tar', ['-xOzf', tarball, 'package/package.json'], { encoding: 'utf8' });
