// A copy of the source that may be spoiled: the tracked files, with the installed dependencies linked. What the
// packages of the workspace link to each other are the copies.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copySources } from './copySources.mjs';
import { root } from './ledger.mjs';
import { mutate } from './mutations.mjs';

/** Names the folder of what the tests of a run have bundled; see packages/core/test/support/bundlePrograms.ts. */
export const BUNDLES = 'DEVS_TEST_BUNDLES';

/** The entries of the root's node_modules, one by one: what tools write beside them stays in the copy. */
function linkDependencies(target) {
  mkdirSync(join(target, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name.startsWith('.vite')) continue;
    const [from, to] = [root, target].map((folder) => join(folder, 'node_modules', name));
    // The workspace's own, by links that lead into the copy there.
    if (name === '@devs') cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    else symlinkSync(from, to);
  }
  for (const group of ['packages', 'examples']) {
    for (const name of readdirSync(join(root, group))) {
      const modules = join(group, name, 'node_modules');
      if (!existsSync(join(root, modules))) continue;
      cpSync(join(root, modules), join(target, modules), { recursive: true, verbatimSymlinks: true });
    }
  }
}

/**
 * Makes a copy in a folder of its own, which is the caller's to remove, with everything that is left in `temporary`.
 *
 * @returns absolute paths: `{ folder, source, temporary }`, the latter two inside the first
 */
export function copySource() {
  const folder = mkdtempSync(join(tmpdir(), 'devs-mutations-'));
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  const target = join(folder, 'source');
  copySources(root, target);
  linkDependencies(target);
  // pnpm must not install here: what is linked belongs to the checkout.
  const settings = join(target, 'pnpm-workspace.yaml');
  const text = readFileSync(settings, 'utf8');
  writeFileSync(settings, text.replace(/^verifyDepsBeforeRun: .*$/m, 'verifyDepsBeforeRun: false'));
  return { folder, source: target, temporary };
}

/** Child programs of the tests run from bundles, which were made of the source as it was before. */
function forgetBundles(env) {
  const old = env[BUNDLES];
  if (old === undefined) return;
  // Another name, too: some of what is made of the source lies elsewhere, under the name of the folder.
  env[BUNDLES] = mkdtempSync(join(tmpdir(), 'devs-bundles-'));
  rmSync(old, { recursive: true, force: true, maxRetries: 3 });
}

/**
 * Does `work` while a copy has the mutation, and takes the mutation back.
 *
 * @param onChange is told the absolute path of what was written, with the mutation and without it
 */
export async function whileMutated({ copy, mutation, env, onChange }, work) {
  const path = join(copy, mutation.file);
  const source = readFileSync(path, 'utf8');
  const write = async (text) => {
    writeFileSync(path, text);
    forgetBundles(env);
    await onChange(path);
  };
  await write(mutate(source, mutation));
  try {
    return await work();
  } finally {
    await write(source);
  }
}
