// Exit code 0 only if every test in a Vitest JSON report passed and at least one ran.
//   node scripts/verify_test_results.js test-results/recursion-guard.json
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const isRecord = (value) => typeof value === 'object' && value !== null;

/** Every test of the report as `{ name, status }`. A file that failed to load counts as a failed test. */
export function testsOf(report) {
  if (!isRecord(report) || !Array.isArray(report.testResults)) {
    throw new TypeError('not a Vitest JSON report: it has no testResults');
  }
  return report.testResults.flatMap((file) => {
    const tests = (file.assertionResults ?? []).map(({ fullName, status }) => ({ name: fullName, status }));
    const unloaded = file.status === 'failed' && !tests.some(({ status }) => status === 'failed');
    return unloaded ? [...tests, { name: `${file.name} (did not run)`, status: 'failed' }] : tests;
  });
}

/** Counts for the closing line of CI; anything that is neither passed nor failed counts as skipped. */
export function countTests(report) {
  const tests = testsOf(report);
  const passed = tests.filter(({ status }) => status === 'passed').length;
  const failed = tests.filter(({ status }) => status === 'failed').length;
  return { passed, failed, skipped: tests.length - passed - failed };
}

function complaintsAbout(file) {
  const tests = testsOf(JSON.parse(readFileSync(file, 'utf8')));
  if (tests.length === 0) return ['no test ran'];
  return tests.filter(({ status }) => status !== 'passed').map(({ name, status }) => `${status}: ${name}`);
}

function main(file) {
  if (file === undefined) throw new TypeError('usage: node scripts/verify_test_results.js REPORT.json');
  const complaints = complaintsAbout(file);
  for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
  if (complaints.length > 0) return 1;
  process.stdout.write(`${file}: every test passed\n`);
  return 0;
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = main(process.argv[2]);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
