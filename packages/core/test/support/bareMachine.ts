import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { env } from 'node:process';
import type { TestProject } from 'vitest/node';
import { BUNDLES } from './bundlePrograms.ts';
import { MODULE_CACHE } from './moduleCache.ts';
import { temporaryFolder } from './temporaryFolder.ts';

/** What an owner sets for git, and where programs look for settings before they look in HOME. */
const OF_THE_OWNER = /^(?:GIT|XDG)_|^EMAIL$/;

const HOME = 'devs-home-';

/**
 * Certificates of the owner's network, of no use on loopback. Node.js 20 reads all of them whenever it starts: a list of the usual
 * length doubles what that takes, 25 ms more of a processor for each of the thousand programs that the tests start.
 */
const CERTIFICATES = 'NODE_EXTRA_CA_CERTS';

/** Names that list to a test that needs the network after all. */
export const OWNERS_CERTIFICATES = 'DEVS_TEST_CERTIFICATES';

/**
 * Vitest's global setup: every test begins with an empty HOME, a git that knows nobody and a temporary folder of the run's own, in
 * memory where there is one, so that none leans on its developer's machine. A test that needs more says so itself, in its
 * repository or its environment.
 */
export function setup({ vitest }: TestProject): () => void {
  // Once per project, but the projects share the process whose environment the workers inherit.
  if (basename(env['HOME'] ?? '').startsWith(HOME)) return () => {};
  // One of its own in either case: who is killed in a test leaves behind what nobody else removes.
  const temporary = temporaryFolder(env['TMPDIR']) ?? mkdtempSync(join(tmpdir(), 'devs-tests-'));
  env['TMPDIR'] = temporary;
  const home = mkdtempSync(join(tmpdir(), HOME));
  // Otherwise git makes an identity of login and host, where the host has a domain; and starts another one after each commit.
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tuseConfigOnly = true\n[maintenance]\n\tauto = false\n');
  for (const name of Object.keys(env)) if (OF_THE_OWNER.test(name)) delete env[name];
  Object.assign(env, { HOME: home, GIT_CONFIG_NOSYSTEM: '1' });
  const { [CERTIFICATES]: certificates } = env;
  if (certificates !== undefined) env[OWNERS_CERTIFICATES] = certificates;
  delete env[CERTIFICATES];
  // Vitest writes to it until the end.
  process.once('exit', () => rmSync(MODULE_CACHE, { recursive: true, force: true }));
  const bundles = mkdtempSync(join(tmpdir(), 'devs-bundles-'));
  // Sources that are edited are bundled anew.
  if (!vitest.config.watch) env[BUNDLES] = bundles;
  return () => {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
  };
}
