import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, describe, expect } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const script = (name: string): string => join(root, 'scripts', name);

const testFiles = readdirSync(join(root, 'packages'), { recursive: true, withFileTypes: true })
  .filter(({ name, parentPath }) => name.endsWith('.test.ts') && !parentPath.includes('node_modules'))
  .map(({ name, parentPath }) => relative(root, join(parentPath, name)).replaceAll('\\', '/'));

/** No number: another way on which the same tests reach their runs. */
const WHERE = 'DEVS_TEST_RUNS';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const node = (...args: readonly string[]): Ended =>
  spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });

/** Runs code of the scripts in a process of its own. */
const evaluate = (code: string): Ended => node('--input-type=module', '-e', code);

const importing = (names: string, name: string): string =>
  `import { ${names} } from ${JSON.stringify(script(name))};`;

interface Fixtures {
  /** A folder with the files of the last run; renders them. */
  render: (files: Readonly<Record<string, string>>) => Ended;
}

const test = base.extend<Fixtures>({
  render: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-times-'));
    await use((files) => {
      mkdirSync(join(dir, 'test-results'));
      for (const [name, content] of Object.entries(files)) {
        writeFileSync(join(dir, 'test-results', name), content.replaceAll('DIR', dir));
      }
      const show = `process.stdout.write(renderTimes(readTimes(${JSON.stringify(dir)})));`;
      return evaluate(`${importing('readTimes, renderTimes', 'testTimes.mjs')} ${show}`);
    });
    rmSync(dir, { recursive: true });
  },
});

const file = (path: string, ms: number, tests: number) => ({
  name: `DIR/${path}`,
  startTime: 1_700_000_000_000,
  endTime: 1_700_000_000_000 + ms,
  assertionResults: Array.from({ length: tests }, () => ({ status: 'passed', meta: { processorMs: 500 } })),
});

const REPORT = JSON.stringify({
  startTime: 1_700_000_000_000,
  testResults: [
    file('packages/core/test/crash/a.test.ts', 3000, 1),
    file('packages/core/test/db/killedB.test.ts', 4500, 2),
    file('packages/cli/test/verbs.test.ts', 2500, 7),
  ],
});

describe('test:times', () => {
  test('prints files, tests, seconds and share of each kind, the costliest files and the stages', ({
    render,
  }) => {
    const stages = JSON.stringify([
      { name: 'install and tests', seconds: 12, ok: true },
      { name: 'lint', seconds: 3.5, ok: false },
    ]);
    const { stdout, stderr } = render({ 'vitest.json': REPORT, 'stages.json': stages });
    expect(stderr).toBe('');
    const lines = stdout.split('\n').map((line) => line.replaceAll(/ +/g, ' ').trim());
    expect(lines).toEqual([
      expect.stringMatching(/^2023-11-14, commit unknown, \d+ × /),
      '',
      'kind files tests time processor share',
      'crash and kills 2 3 7.5 s 1.5 s 75 %',
      'command line 1 7 2.5 s 3.5 s 25 %',
      '',
      'package files tests time processor share',
      'core 2 3 7.5 s 1.5 s 75 %',
      'cli 1 7 2.5 s 3.5 s 25 %',
      'all 3 10 10.0 s 5.0 s 100 %',
      '',
      'costliest files',
      '2.5 s 3.5 s packages/cli/test/verbs.test.ts',
      '4.5 s 1.0 s packages/core/test/db/killedB.test.ts',
      '3.0 s 0.5 s packages/core/test/crash/a.test.ts',
      '',
      'stages of the last `.ci/run` or `pnpm verify`',
      '12.0 s install and tests',
      '3.5 s lint FAILED',
      '',
    ]);
  });

  test.for([
    ['missing', {}, 'There is no test-results/vitest.json.'],
    ['empty', { 'vitest.json': '' }, 'test-results/vitest.json is empty.'],
    ['torn', { 'vitest.json': '{"testResults": [' }, 'test-results/vitest.json is no JSON'],
    ['one of no tests', { 'vitest.json': '{"testResults": []}' }, 'test-results/vitest.json has no tests.'],
  ] as const)('says what to run when the report is %s', ([_what, files, complaint], { render }) => {
    const { status, stderr } = render(files);
    expect(status).not.toBe(0);
    expect(stderr).toContain(complaint);
    expect(stderr).toContain('Run `.ci/run` or `pnpm test:times` first.');
  });

  test('knows a kind for every test file there is', () => {
    const { stdout } = evaluate(
      `${importing('kindOf', 'testKinds.mjs')}
       console.log(JSON.stringify(${JSON.stringify(testFiles)}.filter((path) => kindOf(path) === 'other')));`,
    );
    expect(JSON.parse(stdout)).toEqual([]);
    expect(testFiles.length).toBeGreaterThan(200);
  });

  test('refuses an unknown option', () => {
    expect(node(script('test-times.mjs'), '--lats').status).toBe(2);
  });
});

describe('test:long', () => {
  test('lists only what a test reads', () => {
    const { stdout } = node(script('test-long.mjs'), '--list');
    const lines = stdout.split('\n').filter(Boolean);
    // Those that are programs of their own say so.
    const rows = lines.filter((line) => !/ pnpm | scripts\/\S+\.mjs /.test(line));
    expect(lines.length - rows.length).toBe(3);
    expect(rows.length).toBeGreaterThan(10);
    for (const row of rows) {
      const [, variables = '', filter = ''] = /^[\w-]+ +((?:[A-Z_]+=\w+ +)+)(\S+) /.exec(row) ?? [];
      const readers = testFiles.filter((path) => path.includes(filter)).map(read);
      const names = [...variables.matchAll(/[A-Z_]+/g)].map(([name]) => name);
      const isRead = (name: string) =>
        name === WHERE || readers.some((text) => text.includes(`howMany('${name}'`));
      expect([row, names.length > 0 && names.every(isRead)]).toEqual([row, true]);
    }
  });

  test('lists what a script of its own runs, with the command', () => {
    const { stdout } = node(script('test-long.mjs'), '--list');
    expect(stdout).toMatch(/^mutations +pnpm verify:spec --mutate +every row of the ledger made false$/m);
  });

  test('refuses a name that it does not know, and says which there are', () => {
    const { status, stderr } = node(script('test-long.mjs'), '--only', 'everything');
    expect(status).toBe(2);
    expect(stderr).toMatch(/^There is no everything\. There are:\nchaos /);
  });
});
