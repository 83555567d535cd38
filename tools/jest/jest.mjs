#!/usr/bin/env node
// `jest`, for whoever types it from habit: these tests run on Vitest. Hands over to scripts/test.mjs.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const OPTIONS = {
  ci: { type: 'boolean' },
  coverage: { type: 'boolean' },
  forceExit: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  runInBand: { type: 'boolean', short: 'i' },
  testNamePattern: { type: 'string', short: 't' },
  testPathPattern: { type: 'string', multiple: true, default: [] },
  testPathPatterns: { type: 'string', multiple: true, default: [] },
  verbose: { type: 'boolean' },
};

const HELP = `Usage: npx jest [PATH]... [--coverage] [-t NAME] [--testPathPattern PATH] [--verbose]

These tests run on Vitest. This hands over to it: pnpm test does the same, and takes all of Vitest's options.
`;

/** The checkout around the working directory, not the one that this file is installed in: a copy has its links. */
function checkoutAround(folder) {
  if (existsSync(join(folder, 'pnpm-workspace.yaml'))) return folder;
  if (dirname(folder) === folder) throw new Error('There is no checkout around this folder.');
  return checkoutAround(dirname(folder));
}

function testArguments({ values, positionals }) {
  const { coverage = false, verbose = false, testNamePattern, testPathPattern, testPathPatterns } = values;
  return [
    ...(coverage ? ['--coverage'] : []),
    ...(verbose ? ['--reporter=verbose'] : []),
    ...(testNamePattern === undefined ? [] : [`--testNamePattern=${testNamePattern}`]),
    ...[...positionals, ...testPathPattern, ...testPathPatterns].map((path) => `--testPathPattern=${path}`),
  ];
}

function main(typed) {
  const parsed = parseArgs({ args: typed, options: OPTIONS, allowPositionals: true });
  if (parsed.values.help) return void process.stdout.write(HELP);
  const root = checkoutAround(process.cwd());
  process.stderr.write('These tests run on Vitest: jest hands over to it.\n');
  const script = join(root, 'scripts', 'test.mjs');
  const child = spawn(process.execPath, [script, ...testArguments(parsed)], { cwd: root, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

try {
  main(process.argv.slice(2));
} catch (error) {
  const [what] = error.message.split('. ');
  process.stderr.write(
    `${what.replace(/\.$/, '')}: these tests run on Vitest, and jest understands a few options only (--help).\n`,
  );
  process.exitCode = 2;
}
