import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { env, pid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { BUNDLES } from '../../../core/test/support/bundlePrograms.ts';
import { bundledBin } from './bundledBin.ts';

const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url));
const CACHE = join(PACKAGES, 'agents', 'node_modules', '.cache', 'devs-bin');

/** Other runs of the tests may be under way. */
const KEPT_MS = 60 * 60_000;

/**
 * The command as one file, made once in a run of the tests and shared by all their files; below a folder from which it finds
 * LangChain and its prompts.
 *
 * @returns The file's path.
 */
export async function sharedBin(): Promise<string> {
  const home = join(CACHE, basename(env[BUNDLES] ?? `devs-${pid}`));
  const bin = join(home, 'package', 'dist', 'bin.mjs');
  if (existsSync(bin)) return bin;
  mkdirSync(CACHE, { recursive: true });
  removeOld();
  const made = mkdtempSync(join(CACHE, 'new-'));
  cpSync(join(PACKAGES, 'agents', 'prompts'), join(made, 'prompts'), { recursive: true });
  await bundledBin(join(made, 'package'));
  try {
    renameSync(made, home);
  } catch {
    rmSync(made, { recursive: true, force: true }); // another process was first
  }
  return bin;
}

function removeOld(): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    const { mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}
