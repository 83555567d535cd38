// What the demo uses, for a clone in which nothing is installed: the dependencies of tools/demo, in the versions of the lockfile,
// linked into the packages. pnpm cannot install one package of a workspace without the tools of its root.
// Whatever else is run with pnpm later installs everything.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isOld, link } from './linkDriver.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'node_modules', '.cache', 'devs-demo');
const PACKAGES = ['agents', 'cli', 'core', 'server', 'ui'];

/** The better-sqlite3 that this Node.js does without. */
const OTHER_DRIVER = isOld ? 'better-sqlite3-13' : 'better-sqlite3';

/**
 * Optimises the driver less, where it has to be compiled (Node.js 20 without a prebuilt binary): half of the time to the first commit
 * was spent on what a demo does not need. The workspace compiles its own.
 */
const QUICK = '-O1';
const COMPILED_APART = 'sideEffectsCacheReadonly: true\n';

/** The lockfile with one importer: what it has of packages beside that is not installed. */
export function lockfileOf(importer, lockfile, without) {
  const [before, importers, after] = lockfile.split(/^importers:\n|^(?=packages:\n)/m);
  const own = importers?.split(/^(?= {2}\S)/m).find((each) => each.startsWith(`  ${importer}:\n`));
  if (own === undefined || after === undefined) throw new Error(`pnpm-lock.yaml has no importer ${importer}`);
  const used = own.replace(new RegExp(`^ {6}${without}:\\n(?: {8}.*\\n)+`, 'm'), '');
  return `${before}importers:\n\n${used.replace(`  ${importer}:`, '  .:').trimEnd()}\n\n${after}`;
}

function pnpm(...args) {
  const { npm_execpath: running } = process.env;
  const program = running?.endsWith('pnpm.cjs')
    ? [process.execPath, running]
    : ['npx', '--yes', 'pnpm@10.34.9'];
  const [command, ...rest] = [...program, ...args];
  const env = { CFLAGS: QUICK, CXXFLAGS: QUICK, ...process.env };
  const { status, error } = spawnSync(command, rest, { cwd: folder, stdio: 'inherit', env });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function install() {
  mkdirSync(folder, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(root, 'tools', 'demo', 'package.json'), 'utf8'));
  delete manifest.dependencies[OTHER_DRIVER];
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  cpSync(join(root, '.pnpmfile.cjs'), join(folder, '.pnpmfile.cjs'));
  const settings = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
  writeFileSync(
    join(folder, 'pnpm-workspace.yaml'),
    settings.replace(/^packages:\n(?: {2}.*\n)+/m, `packages: ['.']\n${COMPILED_APART}`),
  );
  const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8');
  writeFileSync(join(folder, 'pnpm-lock.yaml'), lockfileOf('tools/demo', lockfile, OTHER_DRIVER));
  pnpm('install', '--frozen-lockfile', '--reporter=append-only');
}

/** Puts what is installed where a package looks for it, and the packages where they look for each other. */
function linkInto(place) {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const own = PACKAGES.find((each) => name === `@devs/${each}`);
    const source = name === 'better-sqlite3' && !isOld ? 'better-sqlite3-13' : name;
    const target = own === undefined ? join(folder, 'node_modules', source) : join(root, 'packages', own);
    if (existsSync(target)) link(join(place, 'node_modules', name), target);
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  // Where the workspace is installed, pnpm has seen to it before this script.
  if (!existsSync(join(root, 'node_modules', '.modules.yaml'))) {
    install();
    for (const place of [root, ...PACKAGES.map((name) => join(root, 'packages', name))]) linkInto(place);
  }
}
