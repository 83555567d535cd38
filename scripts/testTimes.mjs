// What a run of the tests cost: reads Vitest's JSON report and the stages that scripts/verify.mjs wrote.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { byKind, byPackage } from './testKinds.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const REPORT = 'test-results/vitest.json';
export const STAGES = 'test-results/stages.json';

/** By what they take of processors: the clock of a machine that is busy tells nothing. */
const SLOWEST = 20;
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

/**
 * Seconds are from the first test's start to the last one's end, without loading the modules; `processor` has what the
 * process and those it waited for took, from the end of the file before it.
 */
const fileOf = (folder, { name, startTime, endTime, assertionResults }) => ({
  path: relative(folder, name).replaceAll('\\', '/'),
  tests: assertionResults.length,
  seconds: (endTime - startTime) / 1000,
  processor: assertionResults.reduce((sum, { meta }) => sum + (meta?.processorMs ?? 0), 0) / 1000,
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

/** @returns `{ commit, date, machine, files, tests, seconds, processor, kinds, packages, slowest, stages }`; all times in seconds */
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
    processor: files.reduce((sum, { processor }) => sum + processor, 0),
    kinds: byKind(files),
    packages: byPackage(files),
    slowest: [...files].sort((a, b) => b.processor - a.processor || b.seconds - a.seconds).slice(0, SLOWEST),
    stages: existsSync(stages) ? JSON.parse(readFileSync(stages, 'utf8')) : [],
  };
}

const inSeconds = (seconds) => `${seconds.toFixed(1)} s`.padStart(9);

const HEAD = ' files  tests      time  processor  share';

function rowOf(name, { files, tests, seconds, processor, share }) {
  const counts = `${String(files).padStart(6)}${String(tests).padStart(7)}`;
  const times = `${inSeconds(seconds)}  ${inSeconds(processor)}`;
  return `${name.padEnd(23)}${counts} ${times}${`${(share * 100).toFixed(0)} %`.padStart(7)}`;
}

export function renderTimes({ commit, date, machine, kinds, packages, slowest, stages, ...all }) {
  const lines = [
    `${date}, commit ${commit ?? 'unknown'}, ${machine}`,
    '',
    `${'kind'.padEnd(23)}${HEAD}`,
    ...kinds.map((row) => rowOf(row.kind, row)),
    '',
    `${'package'.padEnd(23)}${HEAD}`,
    ...packages.map((row) => rowOf(row.package, row)),
    rowOf('all', { ...all, share: 1 }),
    '',
    'costliest files',
    ...slowest.map(
      ({ path, seconds, processor }) => `${inSeconds(seconds)}  ${inSeconds(processor)}  ${path}`,
    ),
  ];
  if (stages.length > 0) {
    lines.push('', 'stages of the last `.ci/run` or `pnpm verify`');
    lines.push(
      ...stages.map(({ name, seconds, ok }) => `${inSeconds(seconds)}  ${name}${ok ? '' : '  FAILED'}`),
    );
  }
  return `${lines.join('\n')}\n`;
}
