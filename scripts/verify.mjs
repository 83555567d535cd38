// Everything CI checks, in one command. Stops at the first stage that fails; ends with what the tests and the stages
// took, and one closing line "N passed, N failed, N skipped" from the test report whenever there is one.
//
//   node scripts/verify.mjs             all of it
//   node scripts/verify.mjs --tested --seconds 900 --exit 0
//                                       the tests have just run for that long and left their report (what .ci/run does)
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { publishedNames } from './published.mjs';
import { REPORT, readTimes, renderTimes, root, STAGES as STAGE_TIMES } from './testTimes.mjs';
import { countTests } from './verify_test_results.js';

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
  run(node('scripts/test.mjs', '--coverage', ...reporters), { env: { DEVS_COVERAGE_THRESHOLDS: 'all' } });
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
    node('scripts/check-tests.mjs'),
    node('scripts/check-docs.mjs'),
  );
}

function typeCheckAndBuild() {
  runAll(
    bin('tsc', '--noEmit'),
    bin('tsc', '-b', 'tsconfig.build.json'),
    node('scripts/copy-assets.mjs'),
    node('scripts/bundle-core.mjs'),
    node('scripts/bundle-cli.mjs'),
    node('scripts/verify-typecheck.mjs'),
  );
}

function generatedFilesAreCurrent() {
  runAll(
    node('scripts/build-migrations.mjs', '--check'),
    node('scripts/dump-schema.mjs', '--check'),
    node('scripts/build-ledger.mjs', '--check'),
    node('scripts/build-llms.mjs', '--check'),
  );
}

/** The proofs of what has changed, and of some other rows each time; all of them: `pnpm test:long --only mutations`. */
function mutationsAreNoticed() {
  run(node('scripts/verify-spec.mjs', '--mutate', '--touched', '--draw', '8'));
}

function packagesAreUsable() {
  for (const name of publishedNames()) {
    run(bin('publint', 'run', '--strict', join('packages', name)));
  }
  runAll(node('scripts/verify-packages.mjs'));
  // A docstring that links to nothing is an error.
  run(node('node_modules/typedoc/bin/typedoc', '--emit', 'none'), { cwd: join(root, 'tools', 'docs') });
}

function demo() {
  // The control spoils the recorded work and exits 0 only if the checks notice.
  runAll(node('scripts/demo.mjs'), node('scripts/demo.mjs', '--negative-control'));
  const recording = 'replay:examples/eval/{brief}/recording.jsonl';
  runAll(node('scripts/eval.mjs', '--agents', recording, '--briefs', 'word-count'));
}

const { values: given } = parseArgs({
  options: {
    tested: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '0' },
    exit: { type: 'string', default: '0' },
  },
});

const STAGES = [
  ...(given.tested ? [] : [['tests', testOnce]]),
  ['test report', everyTestPassed],
  ['lint', lint],
  ['types and build', typeCheckAndBuild],
  ['generated files', generatedFilesAreCurrent],
  ['mutations', mutationsAreNoticed],
  ['packages', packagesAreUsable],
  ['demo', demo],
];

/** What has run, as `{ name, seconds, ok }`. */
const done = given.tested
  ? [{ name: 'install and tests', seconds: Number(given.seconds), ok: given.exit === '0' }]
  : [];

function passes([name, stage]) {
  const start = performance.now();
  const end = (ok) => {
    const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
    done.push({ name, seconds, ok });
    return `(${seconds.toFixed(1)} s)`;
  };
  try {
    stage();
    process.stdout.write(`verify: ${name} ok ${end(true)}\n`);
    return true;
  } catch (error) {
    process.stdout.write(`verify: ${name} FAILED ${end(false)}: ${error.message}\n`);
    return false;
  }
}

function printTimes() {
  mkdirSync(join(root, dirname(STAGE_TIMES)), { recursive: true });
  writeFileSync(join(root, STAGE_TIMES), `${JSON.stringify(done, null, 2)}\n`);
  try {
    process.stdout.write(`\n${renderTimes(readTimes())}\n`);
  } catch (error) {
    process.stdout.write(`${error.message}\n`);
  }
}

function closingLine() {
  const path = join(root, REPORT);
  if (!existsSync(path)) return 'no test report';
  const { passed, failed, skipped } = countTests(JSON.parse(readFileSync(path, 'utf8')));
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

process.exitCode = STAGES.every(passes) ? 0 : 1;
printTimes();
process.stdout.write(`${closingLine()}\n`);
