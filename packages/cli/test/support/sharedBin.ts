import { createHash } from 'node:crypto';
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
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledBin } from './bundledBin.ts';

const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url));
const CACHE = join(PACKAGES, 'agents', 'node_modules', '.cache', 'devs-bin');

/** Bundles of earlier sources that stay: another test may have begun with one. */
const KEPT_MS = 60 * 60_000;

/**
 * The command as one file, made once for the sources as they are and shared by all test files; below a folder from which it
 * finds LangChain and its prompts.
 *
 * @returns The file's path.
 */
export async function sharedBin(): Promise<string> {
  const home = join(CACHE, keyOfSources());
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

/** Changes with every file that can be part of the bundle. */
function keyOfSources(): string {
  const hash = createHash('sha256');
  for (const name of ['core', 'agents', 'ui', 'cli']) {
    for (const folder of ['src', 'prompts', 'package.json']) noteFiles(join(PACKAGES, name, folder), hash);
  }
  noteFiles(join(PACKAGES, '..', 'pnpm-lock.yaml'), hash);
  return hash.digest('hex').slice(0, 16);
}

function noteFiles(path: string, hash: ReturnType<typeof createHash>): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) for (const name of readdirSync(path).sort()) noteFiles(join(path, name), hash);
  else hash.update(`${path}\0${stat?.size}\0${stat?.mtimeMs}\n`);
}

function removeOld(): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    const { mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}
