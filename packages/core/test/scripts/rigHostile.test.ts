import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const script = (name: string): string => join(root, 'scripts', name);
const page = readFileSync(join(root, 'docs/internals/security.md'), 'utf8');

const node = (...args: readonly string[]) =>
  spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });

interface Kind {
  readonly name: string;
  readonly files?: readonly { readonly path: string; readonly titles?: RegExp }[];
  readonly env?: readonly string[];
  readonly rig?: readonly string[];
}

interface Open {
  readonly name: string;
  readonly kinds: Readonly<Record<string, string>>;
}

interface Row {
  readonly state: 'held' | 'failed' | 'not run';
  readonly tried: number;
  readonly open: number;
  readonly through: number;
  readonly page: readonly string[];
  readonly why: readonly string[];
}

interface Measured {
  readonly seconds: number;
  readonly open: readonly Open[];
}

interface KindsModule {
  readonly KINDS: readonly Kind[];
  readonly sizesOf: (kind: Kind, minutes: number) => Readonly<Record<string, number>>;
}

interface TableModule {
  readonly readOpen: (page: string) => readonly Open[];
  readonly judge: (kind: object, measured: Measured & { readonly report: object }) => Row;
  readonly judgeRig: (
    kind: object,
    measured: Measured & { readonly stdout: string; readonly code: number },
  ) => Row;
  readonly renderTable: (rows: readonly Row[], open: readonly Open[]) => string;
  readonly exitCodeOf: (rows: readonly Row[]) => number;
}

const { KINDS, sizesOf } = (await import(script('hostileKinds.mjs'))) as KindsModule;
const { readOpen, judge, judgeRig, renderTable, exitCodeOf } = (await import(
  script('hostileTable.mjs')
)) as TableModule;

const OPEN: readonly Open[] = [{ name: 'Known', kinds: { known: '#known' } }];

const aTest = (status: string, tried?: object) => ({
  status,
  fullName: `a door ${status}`,
  meta: tried === undefined ? {} : { tried },
});

const aReport = (...assertionResults: readonly object[]) => ({
  success: true,
  testResults: [{ name: '/repo/packages/x/door.test.ts', assertionResults }],
});

/** The rows that reports of a kind come to, their table and the exit code. */
function judged(reports: readonly object[], { name = 'doors', open = OPEN } = {}) {
  const kind = { name, what: 'doors', files: [{ path: 'packages/x/door.test.ts' }] };
  const rows = reports.map((report) => judge(kind, { report, seconds: 1, open }));
  return { rows, table: renderTable(rows, open), code: exitCodeOf(rows) };
}

describe('rig:hostile', () => {
  const read = (path: string): string =>
    existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';

  test('names only files that there are, titles that they have and variables that they read', () => {
    expect(KINDS.length).toBeGreaterThan(20);
    const wrong = KINDS.flatMap(({ name, files = [], env = [] }) => [
      ...files.filter(({ path }) => read(path) === '').map(({ path }) => `${name}: no ${path}`),
      ...files.flatMap(({ path, titles }) =>
        (titles?.source ?? '')
          .split('|')
          .filter((title) => !read(path).includes(title))
          .map((title) => `${name}: ${path} has no test "${title}"`),
      ),
      ...env
        .filter((variable) => !files.some(({ path }) => read(path).includes(`howMany('${variable}'`)))
        .map((variable) => `${name}: nobody reads ${variable}`),
    ]);
    expect(wrong).toEqual([]);
    expect(new Set(KINDS.map(({ name }) => name)).size).toBe(KINDS.length);
    for (const { files = [], rig = [] } of KINDS) expect(files.length + rig.length).toBeGreaterThan(0);
  });

  test('leaves the short forms as they are, and makes the long ones longer', () => {
    expect(KINDS.map((kind) => sizesOf(kind, 1))).toEqual(KINDS.map(() => ({})));
    const sizes = Object.assign({}, ...KINDS.map((kind) => sizesOf(kind, 60))) as Record<string, number>;
    expect(Object.keys(sizes).sort()).toEqual(KINDS.flatMap(({ env = [] }) => env).sort());
    expect(sizes).toMatchObject({ DEVS_BIT_FLIPS: 600, DEVS_FAULTS_EVERY: 4, DEVS_VISIBLE_TEXTS: 10_000 });
  });

  test('knows the kinds and the sections that the page names', () => {
    const open = readOpen(page);
    expect(open.length).toBeGreaterThan(5);
    const anchorsIn = (path: string): readonly string[] =>
      [...read(`docs/internals/${path}`).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
    const isThere = (link: string): boolean => {
      const [path, anchor = ''] = link.split('#');
      return anchorsIn(path || 'security.md').includes(anchor);
    };
    for (const { name, kinds } of open) {
      expect([name, KINDS.map((kind) => kind.name)]).toEqual([
        name,
        expect.arrayContaining(Object.keys(kinds)),
      ]);
      expect([name, Object.values(kinds).filter((link) => !isThere(link))]).toEqual([name, []]);
    }
  });

  test('counts a test as one way, or as what it has counted', () => {
    const { rows, table, code } = judged([
      aReport(aTest('passed'), aTest('passed', { ways: 41 }), aTest('skipped')),
    ]);
    expect(rows).toMatchObject([{ state: 'held', tried: 42, open: 0, through: 0 }]);
    expect(table.split('\n')[1]?.replaceAll(/ +/g, ' ')).toBe('doors doors 42 0 0 1 s');
    expect(code).toBe(0);
  });

  test.for([
    ['a failed test', aReport(aTest('passed'), aTest('failed')), 2, 1],
    ['a failed test that counted', aReport(aTest('failed', { ways: 9, through: 3 })), 9, 3],
    ['a count of a test that passed', aReport(aTest('passed', { ways: 9, through: 2 })), 9, 2],
  ] as const)('fails on %s', ([_what, report, tried, through]) => {
    const { rows, table, code } = judged([aReport(aTest('passed')), report]);
    expect(rows[1]).toMatchObject({ state: 'failed', tried, through });
    expect(table).toContain('FAILED doors');
    expect(code).toBe(1);
  });

  test.for([
    ['of no tests', aReport(), 'nothing was tried'],
    ['of skipped tests', aReport(aTest('skipped')), 'nothing was tried'],
    ['of other files', { success: true, testResults: [] }, 'nothing was tried'],
    ['of an error beside the tests', { ...aReport(aTest('passed')), success: false }, 'none of theirs'],
  ] as const)('fails on a report %s', ([_what, report, why]) => {
    const { rows, code } = judged([report]);
    expect(rows).toMatchObject([{ state: 'failed', why: [expect.stringContaining(why)] }]);
    expect(code).toBe(1);
  });

  test('fails on what succeeds and is not on the page, and not on what is', () => {
    const report = aReport(aTest('passed', { ways: 5, open: 2 }));
    expect(judged([report])).toMatchObject({ rows: [{ state: 'failed', open: 2 }], code: 1 });
    const known = judged([report], { name: 'known' });
    expect(known).toMatchObject({ rows: [{ state: 'held', open: 2, page: ['#known'] }], code: 0 });
    expect(known.table).toMatch(/^known +Known$/m);
  });

  test('counts what a rig could not run as not run', () => {
    const judgedRig = (stdout: string, exitCode: number) => {
      const row = judgeRig(
        { name: 'doors', what: 'doors' },
        { stdout, code: exitCode, seconds: 1, open: [] },
      );
      return [row, exitCodeOf([row]), renderTable([row], [])] as const;
    };
    const [row, code, rendered] = judgedRig('Not run, because it is missing: a b.\n', 75);
    expect([row.state, row.tried, code]).toEqual(['not run', 0, 75]);
    expect(rendered).toMatch(/doors .* not run here, because it is missing$/m);
    expect(judgedRig('ok    a: in\nFAIL  b: out\na: 1 of 2 hold\n', 1)).toMatchObject([
      { state: 'failed', tried: 2, through: 1, why: ['b: out'] },
      1,
      expect.stringContaining('FAILED doors'),
    ]);
    expect(judgedRig('ok    a: in\n', 0)).toMatchObject([{ state: 'held', tried: 1 }, 0, expect.any(String)]);
    expect(judgedRig('', 0)[1]).toBe(1);
  });

  test('refuses a name or a time that it does not know', () => {
    const { status, stderr } = node(script('rig-hostile.mjs'), '--only', 'everything');
    expect(status).toBe(2);
    expect(stderr).toMatch(/^There is no everything\. There are:\npaths /);
    expect(node(script('rig-hostile.mjs'), '--minutes', 'soon').status).toBe(2);
  });
});
