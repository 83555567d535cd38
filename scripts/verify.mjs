// Everything CI checks, in one command. Stops at the first stage that fails; ends with one closing line
// "N passed, N failed, N skipped" from the test report whenever there is one.
//
//   node scripts/verify.mjs             all of it
//   node scripts/verify.mjs --tested    the tests have just run and left their report (what .ci/run does)
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countTests } from './verify_test_results.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const REPORT = 'test-results/vitest.json';

const node = (...args) => [process.execPath, ...args];
const bin = (name, ...args) => [join(root, 'node_modules', '.bin', name), ...args];

function run([command, ...args], { cwd = root, env = {} } = {}) {
  const { status, signal, error } = spawnSync(command, args, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${signal ?? status}`);
}

function runAll(...commands) {
  for (const command of commands) run(command);
}

function testOnce() {
  mkdirSync(join(root, dirname(REPORT)), { recursive: true });
  rmSync(join(root, REPORT), { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];
  run(node('scripts/test.mjs', '--coverage', ...reporters), { env: { DEVS_COVERAGE_THRESHOLDS: '1' } });
}

function everyTestPassed() {
  run(node('scripts/verify_test_results.js', REPORT));
}

function lint() {
  runAll(
    bin('biome', 'check', '--error-on-warnings', '.'),
    bin('oxlint'),
    node('scripts/check-layers.mjs', '--self-test'),
    node('scripts/check-layers.mjs'),
    node('scripts/check-docs.mjs'),
  );
}

function typeCheckAndBuild() {
  runAll(
    bin('tsc', '--noEmit'),
    bin('tsc', '-b', 'tsconfig.build.json'),
    node('scripts/copy-assets.mjs'),
    node('scripts/verify-typecheck.mjs'),
  );
}

function generatedFilesAreCurrent() {
  runAll(
    node('scripts/build-migrations.mjs', '--check'),
    node('scripts/dump-schema.mjs', '--check'),
    node('scripts/build-ledger.mjs', '--check'),
  );
}

function packagesAreUsable() {
  for (const name of readdirSync(join(root, 'packages'))) {
    run(bin('publint', 'run', '--strict', join('packages', name)));
  }
  runAll(node('scripts/verify-packages.mjs'));
}

function demo() {
  // The control spoils the recorded work and exits 0 only if the checks notice.
  runAll(node('scripts/demo.mjs'), node('scripts/demo.mjs', '--negative-control'));
  const recording = 'replay:examples/eval/{brief}/recording.jsonl';
  runAll(node('scripts/eval.mjs', '--agents', recording, '--briefs', 'word-count'));
}

const isTested = process.argv.includes('--tested');

const STAGES = [
  ...(isTested ? [] : [['tests', testOnce]]),
  ['test report', everyTestPassed],
  ['lint', lint],
  ['types and build', typeCheckAndBuild],
  ['generated files', generatedFilesAreCurrent],
  ['packages', packagesAreUsable],
  ['demo', demo],
];

function passes([name, stage]) {
  const start = performance.now();
  const seconds = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  try {
    stage();
    process.stdout.write(`verify: ${name} ok (${seconds()})\n`);
    return true;
  } catch (error) {
    process.stdout.write(`verify: ${name} FAILED (${seconds()}): ${error.message}\n`);
    return false;
  }
}

function closingLine() {
  const path = join(root, REPORT);
  if (!existsSync(path)) return 'no test report';
  const { passed, failed, skipped } = countTests(JSON.parse(readFileSync(path, 'utf8')));
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

process.exitCode = STAGES.every(passes) ? 0 : 1;
process.stdout.write(`${closingLine()}\n`);
