// The `test` script: Vitest, plus the options of Jest that people (and CI recipes) type from habit.
//   --testPathPattern=X      -> X as a path filter
//   --coverage with a filter -> coverage of the filter's modules alone, as a table, and the bounds that vitest.config.ts has for them
// Everything else goes to Vitest unchanged; the exit code is Vitest's.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importsOf, withoutComments } from './imports.mjs';
import { bannerIn, overwrite } from './npmBanner.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const JEST_ONLY = new Set(['--', '--ci', '--forceExit', '--runInBand']);

/** Splits Jest's path patterns from the rest. pnpm passes a literal `--` on, npm does not. */
function splitPatterns(args) {
  const patterns = [];
  const rest = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    if (arg.startsWith('--testPathPattern=')) patterns.push(arg.slice('--testPathPattern='.length));
    else if (arg === '--testPathPattern' && args[i + 1] !== undefined) patterns.push(args[++i]);
    else if (!JEST_ONLY.has(arg)) rest.push(arg);
  }
  return { patterns, rest };
}

/** TypeScript below the packages' `src/`, from the root, with slashes. */
function sources() {
  const files = readdirSync(join(root, 'packages')).flatMap((name) => {
    const src = `packages/${name}/src`;
    const found = existsSync(join(root, src)) ? readdirSync(join(root, src), { recursive: true }) : [];
    return found.map((file) => `${src}/${file.replaceAll('\\', '/')}`);
  });
  return files.filter((file) => file.endsWith('.ts')).sort();
}

/** What a test file in `__tests__` imports for its values from the folder around that, and from the folders in it. */
function modulesOf(testFile) {
  const imports = importsOf(withoutComments(readFileSync(join(root, testFile), 'utf8')));
  return imports
    .filter(({ target, typeOnly }) => !typeOnly && /^\.\.\/(?:[^/.]+\/)*[^/.]+\.ts$/.test(target))
    .map(({ target }) => posix.join(posix.dirname(testFile), target));
}

/** The modules of the filter's name; where there is none, those that its test files are about. */
function modulesNamed(filter) {
  const name = basename(filter).replace(/(?:\.test)?\.ts$/, '');
  const files = sources();
  const named = files.filter((file) => posix.basename(file) === `${name}.ts`);
  if (named.length > 0) return named;
  return files.filter((file) => file.endsWith('.test.ts') && file.includes(filter)).flatMap(modulesOf);
}

/** Vitest's own reading of the rest: which of it are filters. Loaded here, because most runs need none of it. */
async function read(rest) {
  const { parseCLI } = await import('vitest/node');
  return parseCLI(['vitest', 'run', ...rest]);
}

async function coverageOf(patterns, rest) {
  if (!rest.some((arg) => /^--coverage\b/.test(arg))) return { modules: [], isPart: false };
  const { filter, options } = await read(rest);
  const { enabled, include } = options.coverage;
  if (!enabled || include !== undefined) return { modules: [], isPart: false };
  const modules = [...patterns, ...filter].flatMap(modulesNamed);
  return { modules: [...new Set(modules)], isPart: options.testNamePattern !== undefined };
}

/**
 * Vitest's command line for the arguments of the `test` script, and what its environment has in addition.
 *
 * A part of a module's tests is held to no bound.
 */
export async function vitestCommand(args) {
  const { patterns, rest } = splitPatterns(args);
  const { modules, isPart } = await coverageOf(patterns, rest);
  const only = modules.map((file) => `--coverage.include=${file}`);
  return {
    args: ['run', ...rest, ...(only.length > 0 ? ['--coverage.reporter=text', ...only] : []), ...patterns],
    env: only.length > 0 && !isPart ? { DEVS_COVERAGE_THRESHOLDS: 'modules' } : {},
  };
}

async function main(typed) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  if (!existsSync(vitest)) {
    process.stderr.write('Vitest is not installed. Run: npx --yes pnpm@10.34.9 install\n');
    process.exit(1);
  }
  const { args, env } = await vitestCommand(typed);
  const banner = /--reporter[ =]json\b/.test(args.join(' ')) ? bannerIn(1, typed, process.env) : 0;
  const child = spawn(process.execPath, [vitest, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['inherit', banner === 0 ? 'inherit' : 'pipe', 'inherit'],
  });
  if (banner > 0) overwrite(1, banner, child.stdout);
  // A terminal sends Ctrl-C to the child as well; a process manager signals only this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('close', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
