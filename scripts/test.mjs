// The `test` script: Vitest, plus the options of Jest that people (and CI recipes) type from habit.
//   --testPathPattern=X   -> X as a path filter
//   --coverage with one   -> coverage of the modules of that name only, as a table
// Everything else goes to Vitest unchanged; the exit code is Vitest's.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, parse, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** Source modules named exactly like the pattern, without tests. */
function modulesNamed(pattern) {
  const found = [];
  for (const name of readdirSync(join(root, 'packages'))) {
    const src = join(root, 'packages', name, 'src');
    if (!existsSync(src)) continue;
    for (const file of readdirSync(src, { recursive: true })) {
      if (parse(file).base === `${pattern}.ts`) found.push(`packages/${name}/src/${file}`);
    }
  }
  return found;
}

function coverageOf(patterns, rest) {
  const wanted = rest.some((arg) => arg === '--coverage' || arg.startsWith('--coverage='));
  const chosen = rest.some((arg) => arg.startsWith('--coverage.include'));
  const modules = wanted && !chosen ? patterns.flatMap(modulesNamed) : [];
  if (modules.length === 0) return [];
  return ['--coverage.reporter=text', ...modules.map((file) => `--coverage.include=${file}`)];
}

/** Vitest's command line for the arguments of the `test` script. */
export function vitestArguments(args) {
  const { patterns, rest } = splitPatterns(args);
  return ['run', ...rest, ...coverageOf(patterns, rest), ...patterns];
}

function main() {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  if (!existsSync(vitest)) {
    process.stderr.write('Vitest is not installed. Run: npx --yes pnpm@10.34.9 install\n');
    process.exit(1);
  }
  const child = spawn(process.execPath, [vitest, ...vitestArguments(process.argv.slice(2))], {
    cwd: root,
    stdio: 'inherit',
  });
  // A terminal sends Ctrl-C to the child as well; a process manager signals only this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) main();
