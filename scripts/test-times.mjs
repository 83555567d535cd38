// What the default tests cost, by kind, and what the stages of the last `.ci/run` took.
//
//   pnpm test:times                runs the default tests, then prints
//   pnpm test:times --last         prints what the last run of `.ci/run`, `pnpm verify` or this command took
//   pnpm test:times --last --json  the same, as JSON
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { REPORT, readTimes, renderTimes, root } from './testTimes.mjs';

const HELP = `Usage: pnpm test:times [--last] [--json]

What the default tests cost: files, tests, seconds and seconds of processors by kind and by package, the costliest files,
and the stages of the last \`.ci/run\`. Seconds of tests are summed over files, which run in parallel; those of processors
include the processes that a test has started and waited for (on Linux).

  --last   read the reports of the last run; without it, run the default tests first
  --json   as JSON, in seconds
  --help   this text

Examples:
  pnpm test:times
  pnpm test:times --last
  pnpm -s test:times --last --json | jq '.kinds[] | select(.share > 0.1)'
`;

/** The tests' own output goes to stderr, so that stdout holds the table or the JSON alone. */
function runTests() {
  rmSync(join(root, REPORT), { force: true });
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${REPORT}`];
  const { status } = spawnSync(process.execPath, ['scripts/test.mjs', ...reporters], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  return status ?? 1;
}

function main() {
  const { values } = parseArgs({
    options: {
      last: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  if (!values.last) process.exitCode = runTests();
  const times = readTimes();
  process.stdout.write(values.json ? `${JSON.stringify(times, null, 2)}\n` : renderTimes(times));
}

try {
  main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.code?.startsWith('ERR_PARSE_ARGS') ? 2 : 1;
}
