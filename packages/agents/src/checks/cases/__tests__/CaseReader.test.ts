import { readFileSync } from 'node:fs';
import type { TestCase } from '@devs/core';
import { describe, expect, it } from 'vitest';
import { CaseReader, readReport } from '../CaseReader.ts';

const printed = (name: string): Buffer => readFileSync(new URL(`outputs/${name}.txt`, import.meta.url));

/** `+name` passed, `-name` failed, `~name` was skipped. */
const inShort = (cases: readonly TestCase[] | null): readonly string[] =>
  (cases ?? []).map(({ name, state }) => `${{ passed: '+', failed: '-', skipped: '~' }[state]}${name}`);

/** Those that stand for a file. */
const wholes = (cases: readonly TestCase[] | null): readonly string[] =>
  (cases ?? []).filter(({ whole }) => whole).map(({ name }) => name);

function read(...chunks: readonly (Buffer | string)[]): readonly TestCase[] | null {
  const reader = new CaseReader();
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return reader.cases('/project');
}

const AVA = ['~a › later', '~a › to do', '+a › adds', '-a › breaks', '+b › other adds'];
const NODE = [
  '+adds',
  '-breaks',
  '~later',
  '~to do',
  '+suite › inner passes',
  '-suite › inner breaks # x',
  '-n/b.test.js',
];
const MOCHA = [
  '+suite › adds',
  '-suite › breaks',
  '~suite › later',
  '+suite › deep › adds',
  '-suite › deep › breaks too',
];
const suites = (file: string): readonly string[] => [
  `+${file} › suite › adds`,
  `-${file} › suite › breaks`,
  `~${file} › suite › later`,
  `~${file} › suite › to do`,
  `+${file} › suite › deep › adds`,
  `+${file} › top`,
];
const JEST = [...suites('je/a.test.cjs'), '-je/b.test.cjs'];
const VITEST = [...suites('a.test.js'), '-b.test.js', '+c.test.js › fine'];
const OUTPUTS: Readonly<Record<string, readonly string[]>> = {
  'node-tap': NODE,
  'node-spec': NODE,
  'node-tap-not-loaded': ['-test/slug.test.js', '+b'],
  ava: AVA,
  'ava-tap': AVA,
  mocha: MOCHA,
  'mocha-tap': MOCHA.map((name) => name.replaceAll(' › ', ' ')),
  tape: ['+adds', '-breaks'],
  jest: ['-je/a.test.cjs › suite › breaks', '-je/b.test.cjs'],
  'jest-verbose': JEST,
  'jest-json': JEST,
  vitest: ['-a.test.js › suite › breaks', '-b.test.js', '+c.test.js'],
  'vitest-verbose': VITEST,
  'vitest-tap': VITEST,
  'vitest-json': VITEST.map((name) => name.replace(/^(.)/, '$1vi/')),
};

describe('the cases of a run', () => {
  it.each(Object.entries(OUTPUTS))('are read from what a runner prints: %s', (name, expected) => {
    expect(inShort(read(printed(name))).toSorted()).toEqual(expected.toSorted());
  });

  it.each(Object.keys(OUTPUTS))('are the same however it is cut, and in colours: %s', (name) => {
    const bytes = printed(name);
    const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
      bytes.subarray(at * 7, at * 7 + 7),
    );
    expect(read(...chunks)).toEqual(read(bytes));
    const coloured = bytes.toString().replaceAll(/^(.+)$/gm, '\u001B[32m$1\u001B[39m');
    expect(read(coloured)).toEqual(read(bytes));
  });

  it('are none where a program prints something else', () => {
    expect(read('ok, done\n1) first, do this\n- and that\nok 1 - but this is no plan\n')).toBeNull();
    expect(read('')).toBeNull();
  });

  it('are none where there are too many', () => {
    const lines = Array.from({ length: 5_001 }, (_, at) => `ok ${at + 1} - case ${at}`);
    expect(read(`TAP version 13\n${lines.slice(0, 5_000).join('\n')}\n`)).toHaveLength(5_000);
    expect(read(`TAP version 13\n${lines.join('\n')}\n`)).toBeNull();
  });

  const WHOLE: Readonly<Record<string, readonly string[]>> = {
    'node-tap': ['n/b.test.js'],
    'node-spec': ['n/b.test.js'],
    'node-tap-not-loaded': ['test/slug.test.js'],
    jest: ['je/b.test.cjs'],
    'jest-verbose': ['je/b.test.cjs'],
    'jest-json': ['je/b.test.cjs'],
    vitest: ['c.test.js', 'b.test.js'],
    'vitest-verbose': ['b.test.js'],
    'vitest-tap': ['b.test.js'],
    'vitest-json': ['vi/b.test.js'],
  };

  it.each(Object.keys(OUTPUTS))('say which of them are files: %s', (name) => {
    expect(wholes(read(printed(name)))).toEqual(WHOLE[name] ?? []);
  });

  it('say so of a file that AVA cannot load, and of one that Jest tells by nothing else', () => {
    expect(wholes(read('\n  Uncaught exception in test-label.js\n\n  1 test failed\n'))).toEqual([
      'test-label.js',
    ]);
    expect(wholes(read('PASS test/a.test.js\nFAIL test/b.test.js\n  ● breaks\n'))).toEqual([
      'test/a.test.js',
    ]);
  });

  it('have no message in their names, as AVA puts one behind what fails', () => {
    const lines = ['✘ [fail]: a › adds Error thrown in test', '✘ [fail]: a › adds more', '✔ b › adds', '─'];
    const titles = ['a › adds', 'Error thrown in test:', 'a › adds more'];
    for (const told of [titles, titles.toReversed()]) {
      const text = [...lines, ...told].map((line) => `  ${line}\n\n`).join('');
      expect(inShort(read(text))).toEqual(['+b › adds', '-a › adds', '-a › adds more']);
    }
    expect(inShort(read(`  ${lines[0]}\n  ─\n`))).toEqual(['-a › adds Error thrown in test']);
  });

  it('have no word in their names of how often Vitest ran them', () => {
    const text = ' RUN  v4.1.12 /p\n ✓ a.test.js > adds (retry x2) 5ms\n';
    expect(inShort(read(text))).toEqual(['+a.test.js › adds']);
  });

  it.each([
    ['named last', '# adds\nok 1 is two\n# breaks\n', ['+adds', '-breaks'], ['breaks']],
    ['after one of its points', '# adds\nok 1 is two\n', ['-adds'], ['adds']],
    [
      'of a second program',
      '# adds\nok 1 is two\n\n1..1\n# tests 1\nTAP version 13\n# b\n',
      ['+adds', '-b'],
      ['b'],
    ],
  ])('name the case that tape dies in: %s', (_, text, expected, whole) => {
    const cases = read(`TAP version 13\n${text}TypeError: api.b is not a function\n`);
    expect(inShort(cases)).toEqual(expected);
    expect(wholes(cases)).toEqual(whole);
  });

  it('are not named by what a runner says after its plan', () => {
    const lines = ['1..3', 'ok 1 a', 'not ok 2 b', '# (in test file a.bats, line 5)', 'ok 3 c', ''];
    expect(inShort(read(lines.join('\n')))).toEqual(['+a', '-b', '+c']);
  });

  it('name a file that did not load, and not what it printed', () => {
    const printed = ['# node:internal/modules', '# Node.js v20.20.2', '# Subtest: test/add.test.js'];
    const lines = ['TAP version 13', ...printed, 'not ok 1 - test/add.test.js', '1..1', ''];
    expect(inShort(read(lines.join('\n')))).toEqual(['-test/add.test.js']);
  });

  it('leave a line out that never ends', () => {
    const endless = Array.from({ length: 6 }, () => 'x'.repeat(1024 * 1024));
    expect(inShort(read('TAP version 13\nok 1 - a\n', ...endless, '\nok 2 - b\n'))).toEqual(['+a', '+b']);
  });

  it('have no secrets in their names', () => {
    expect(
      inShort(read('TAP version 13\nok 1 - uses ghp_0123456789abcdefghijABCDEFGHIJ012345\n'))[0],
    ).not.toContain('ghp_0123');
  });
});

describe('the cases of a report', () => {
  it.each([
    ['vitest-junit', VITEST.map((name) => name.replace('-b.test.js', '-b.test.js › b.test.js'))],
    ['mocha-xunit', MOCHA.map((name) => name.replace('suite › deep', 'suite deep'))],
    ['jest-json', JEST.map((name) => name.replace(/^(.)/, '$1/project/'))],
  ])('are read: %s', (name, expected) => {
    const cases = inShort(readReport(printed(name).toString())).map((text) => text.replaceAll(' > ', ' › '));
    expect(cases.toSorted()).toEqual(expected.toSorted());
  });

  it('say which are files that did not load', () => {
    expect(wholes(readReport(printed('vitest-junit').toString()))).toEqual(['b.test.js › b.test.js']);
    expect(wholes(readReport(printed('node-junit').toString()))).toEqual(['test › /project/n/b.test.js']);
    const testcase = (name: string, body: string): string =>
      `<testcase classname="" name="${name}">${body}</testcase>`;
    const collected = testcase('tests.test_a', '<error message="collection failure"/>');
    const failed = testcase('adds', '<failure message="2 is not 3"/>');
    expect(wholes(readReport(`<testsuites>${collected}${failed}</testsuites>`))).toEqual(['tests.test_a']);
  });

  it.each(['', '{', '<testsuites/>', '{"testResults": 3}', '[]'])('are none in %j', (text) => {
    expect(readReport(text)).toBeNull();
  });
});
