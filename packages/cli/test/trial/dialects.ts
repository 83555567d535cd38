import type { Case } from './Repository.ts';

/** A test as one of the test runners wants it. */
export interface TestText {
  /** `'../src/slug.js'`, from the file of the test. */
  readonly from: string;
  /** What is imported: `slug`; the first part of {@link call}. */
  readonly name: string;
  readonly call: string;
  readonly title: string;
  readonly cases: readonly Case[];
  readonly isSkipped?: boolean;
}

/** Writes the tests of one runner. */
export interface Dialect {
  readonly runner: string;
  readonly write: (test: TestText) => string;
  /** A file the runner accepts, in which nothing is tested. */
  readonly empty: string;
  /** Loads the file system as `fs`. */
  readonly fs: string;
  /** A file whose one test does this, after what it loads. Of a runner that dies where a file does not load. */
  readonly doing?: (statements: readonly string[], loaded: readonly string[]) => string;
}

const lines = (...texts: readonly string[]): string => `${texts.join('\n')}\n`;

const esm = ({ name, from }: TestText): string => `import { ${name} } from '${from}';`;
const cjs = ({ name, from }: TestText): string => `const ${name} = require('${from}');`;

const ESM_FS = "import fs from 'node:fs';";
const CJS_FS = "var fs = require('fs');";

const each = ({ call, cases }: TestText, line: (call: string, expected: string) => string) =>
  cases.map(({ args, of = '', expected }) => `  ${line(`${call}(${args})${of}`, expected)}`);

const skip = ({ isSkipped = false }: TestText, name: string): string => (isSkipped ? `${name}.skip` : name);

export const nodeTest: Dialect = {
  runner: 'node --test',
  write: (test) =>
    lines(
      "import assert from 'node:assert/strict';",
      "import { test } from 'node:test';",
      esm(test),
      '',
      `${skip(test, 'test')}('${test.title}', () => {`,
      ...each(test, (call, expected) => `assert.deepEqual(${call}, ${expected});`),
      '});',
    ),
  fs: ESM_FS,
  empty: lines("import { test } from 'node:test';", '', "test('is here', () => {});"),
};

export const vitest: Dialect = {
  runner: 'Vitest',
  write: (test) =>
    lines(
      esm(test),
      '',
      `${skip(test, 'test')}('${test.title}', () => {`,
      ...each(test, (call, expected) => `expect(${call}).toEqual(${expected});`),
      '});',
    ),
  fs: ESM_FS,
  empty: lines("test('is here', () => {});"),
};

export const jest: Dialect = {
  runner: 'Jest',
  write: (test) =>
    lines(
      `const { ${test.name} } = require('${test.from}');`,
      '',
      `${skip(test, 'test')}('${test.title}', () => {`,
      ...each(test, (call, expected) => `expect(${call}).toEqual(${expected});`),
      '});',
    ),
  fs: CJS_FS,
  empty: lines("test('is here', () => {});"),
};

export const mocha: Dialect = {
  runner: 'Mocha',
  write: (test) =>
    lines(
      "import assert from 'node:assert/strict';",
      esm(test),
      '',
      `${skip(test, 'it')}('${test.title}', () => {`,
      ...each(test, (call, expected) => `assert.deepEqual(${call}, ${expected});`),
      '});',
    ),
  fs: ESM_FS,
  empty: lines("it('is here', () => {});"),
  doing: (statements, loaded) => lines(...loaded, "it('is here', () => {", ...statements, '});'),
};

export const tape: Dialect = {
  runner: 'tape',
  write: (test) =>
    lines(
      "'use strict';",
      "var test = require('tape');",
      cjs(test).replace('const', 'var'),
      '',
      `${skip(test, 'test')}('${test.title}', function (t) {`,
      ...each(test, (call, expected) => `t.deepEqual(${call}, ${expected});`),
      '  t.end();',
      '});',
    ),
  fs: CJS_FS,
  empty: lines("var test = require('tape');", '', "test('is here', function (t) { t.end(); });"),
  doing: (statements, loaded) =>
    lines(
      ...loaded,
      "var test = require('tape');",
      '',
      "test('is here', function (t) {",
      ...statements,
      '  t.end();',
      '});',
    ),
};

export const ava: Dialect = {
  runner: 'ava',
  write: (test) =>
    lines(
      "import test from 'ava';",
      `import ${test.name} from '${test.from}';`,
      '',
      `${skip(test, 'test')}('${test.title}', t => {`,
      ...each(test, (call, expected) => `t.is(${call}, ${expected});`).map((line) =>
        line.replace(/^ +/, '\t'),
      ),
      '});',
    ),
  fs: ESM_FS,
  empty: lines("import test from 'ava';", '', "test('is here', t => {", '\tt.pass();', '});'),
  doing: (statements, loaded) =>
    lines(
      ...loaded,
      "import test from 'ava';",
      '',
      "test('is here', t => {",
      ...['t.pass();', ...statements].map((statement) => (statement === '' ? '' : `\t${statement}`)),
      '});',
    ),
};
