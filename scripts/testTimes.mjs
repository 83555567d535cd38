// What a run of the tests cost: reads Vitest's JSON report and the stages that scripts/verify.mjs wrote.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { byKind } from './testKinds.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const REPORT = 'test-results/vitest.json';
export const STAGES = 'test-results/stages.json';

const SLOWEST = 10;
const HOW = 'Run `.ci/run` or `pnpm test:times` first.';

function readReport(folder) {
  const path = join(folder, REPORT);
  if (!existsSync(path)) throw new Error(`There is no ${REPORT}. ${HOW}`);
  const text = readFileSync(path, 'utf8');
  if (text.trim() === '') throw new Error(`${REPORT} is empty. ${HOW}`);
  let report;
  try {
    report = JSON.parse(text);
  } catch (error) {
    throw new Error(`${REPORT} is no JSON, perhaps of a run that was stopped. ${HOW}`, { cause: error });
  }
  if (!Array.isArray(report?.testResults) || report.testResults.length === 0) {
    throw new Error(`${REPORT} has no tests. ${HOW}`);
  }
  return report;
}

/** From the first test's start to the last one's end: what a file's tests take, without loading its modules. */
const fileOf = (folder, { name, startTime, endTime, assertionResults }) => ({
  path: relative(folder, name).replaceAll('\\', '/'),
  tests: assertionResults.length,
  seconds: (endTime - startTime) / 1000,
});

function commitOf(folder) {
  try {
    const args = ['rev-parse', '--short', 'HEAD'];
    return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return null;
  }
}

function machine() {
  const processors = cpus();
  return `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}, Node.js ${process.version}`;
}

/** @returns `{ commit, date, machine, files, tests, seconds, kinds, slowest, stages }`; all times in seconds */
export function readTimes(folder = root) {
  const report = readReport(folder);
  const files = report.testResults.map((file) => fileOf(folder, file));
  const stages = join(folder, STAGES);
  return {
    commit: commitOf(folder),
    date: new Date(report.startTime).toISOString().slice(0, 10),
    machine: machine(),
    files: files.length,
    tests: files.reduce((sum, { tests }) => sum + tests, 0),
    seconds: files.reduce((sum, { seconds }) => sum + seconds, 0),
    kinds: byKind(files),
    slowest: [...files].sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST),
    stages: existsSync(stages) ? JSON.parse(readFileSync(stages, 'utf8')) : [],
  };
}

const inSeconds = (seconds) => `${seconds.toFixed(1)} s`.padStart(9);

function rowOf({ kind, files, tests, seconds, share }) {
  const counts = `${String(files).padStart(6)}${String(tests).padStart(7)}`;
  return `${kind.padEnd(20)}${counts} ${inSeconds(seconds)}${`${(share * 100).toFixed(0)} %`.padStart(7)}`;
}

export function renderTimes({ commit, date, machine, kinds, slowest, stages, ...all }) {
  const lines = [
    `${date}, commit ${commit ?? 'unknown'}, ${machine}`,
    '',
    `${'kind'.padEnd(20)} files  tests      time  share`,
    ...kinds.map(rowOf),
    rowOf({ kind: 'all', ...all, share: 1 }),
    '',
    'slowest files',
    ...slowest.map(({ path, seconds }) => `${inSeconds(seconds)}  ${path}`),
  ];
  if (stages.length > 0) {
    lines.push('', 'stages of the last `.ci/run` or `pnpm verify`');
    lines.push(
      ...stages.map(({ name, seconds, ok }) => `${inSeconds(seconds)}  ${name}${ok ? '' : '  FAILED'}`),
    );
  }
  return `${lines.join('\n')}\n`;
}
