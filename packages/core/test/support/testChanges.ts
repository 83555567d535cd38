import type { FileVersions } from '../../src/orchestration/checks/testSource.ts';

/** A change, by what it does; of files: path, before, after. */
export type Change = readonly [what: string, ...files: readonly FileVersions[]];

const file = (path: string, before: string | null, after: string | null): FileVersions => ({
  path,
  before,
  after,
});
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const JS = `import test from 'node:test';
import assert from 'node:assert/strict';
import { add } from './add.js';

test('adds two numbers', () => {
  assert.equal(add(1, 2), 3);
});

test('adds negative numbers', () => {
  assert.equal(add(-1, -2), -3);
});
`;
const VITEST = `import { describe, expect, it } from 'vitest';
import { add } from './add';

describe('add', () => {
  it('adds two numbers', () => {
    expect(add(1, 2)).toBe(3);
  });

  it('refuses text', () => {
    expect(() => add('a', 1)).toThrow(TypeError);
  });
});
`;
const AVA = `import test from 'ava';
import pLimit from './index.js';

test('concurrency: 1', async t => {
	const limit = pLimit(1);
	t.deepEqual(await Promise.all([limit(() => 1)]), [1]);
});

test('throws on invalid concurrency', t => {
	t.throws(() => {
		pLimit(0);
	});
});
`;
const MOCHA = `const assert = require('assert');

describe('slugify', function () {
  it('lower-cases', function () {
    assert.strictEqual(slugify('A'), 'a');
  });
  it('joins by hyphens', function () {
    assert.strictEqual(slugify('a b'), 'a-b');
  });
});
`;
const TAPE = `const test = require('tape');

test('parses', (t) => {
  t.equal(parse('1'), 1);
  t.end();
});
`;
const PY = `import pytest
from calc import add


def test_adds():
    assert add(1, 2) == 3


def test_refuses_text():
    with pytest.raises(TypeError):
        add("a", 1)
`;
const UNITTEST = `import unittest


class AddTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(1, 2), 3)
`;
const GO = `package calc

import "testing"

func TestAdd(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fatal("wrong")
	}
}

func TestSub(t *testing.T) {
	if Sub(1, 2) != -1 {
		t.Fatal("wrong")
	}
}
`;
const RUST = `#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }

    #[test]
    fn subtracts() {
        assert_eq!(sub(1, 2), -1);
    }
}
`;
const JAVA = `class AddTest {
  @Test
  void adds() {
    assertEquals(3, add(1, 2));
  }

  @Test
  void subtracts() {
    assertEquals(1, sub(2, 1));
  }
}
`;
const RUBY = `RSpec.describe Calc do
  it "adds" do
    expect(Calc.add(1, 2)).to eq(3)
  end

  it "subtracts" do
    expect(Calc.sub(1, 2)).to eq(-1)
  end
end
`;
const PHP = `<?php
class AddTest extends TestCase {
    public function testAdds() {
        $this->assertSame(3, add(1, 2));
    }
}
`;
const PKG = {
  name: 'calc',
  type: 'module',
  scripts: { build: 'tsc -p .', test: 'xo && ava && npm run types', types: 'tsd', lint: 'xo' },
  devDependencies: { ava: '^6.0.0', xo: '^1.0.0', tsd: '^0.30.0' },
  ava: { files: ['test/**/*.js'] },
  xo: { rules: { 'no-console': 'error' } },
};
const manifest = (change: (pkg: typeof PKG & Record<string, unknown>) => object): FileVersions =>
  file('package.json', json(PKG), json(change(structuredClone(PKG))));
const withScripts = (scripts: object) =>
  manifest((pkg) => ({ ...pkg, scripts: { ...pkg.scripts, ...scripts } }));
const VITEST_CONFIG = `import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts'],
    coverage: {
      thresholds: {
        lines: 90,
      },
    },
  },
});
`;
const TSCONFIG = `{
  // strict
  "compilerOptions": { "strict": true, "noUnusedLocals": true, "target": "ES2020" },
  "include": ["src", "test"],
}
`;
const ESLINT = `export default [
  js.configs.recommended,
  { rules: { eqeqeq: 'error' } },
  { rules: {
    'no-console': 'error',
  } },
];
`;
const WORKFLOW = `on: push
jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        node: [18, 20]
    steps:
      - uses: actions/checkout@v4
      - run: npm ci
      - run: npm test
`;
const PYPROJECT = `[project]
name = "calc"
dependencies = ["requests"]

[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = "--strict-markers"

[tool.coverage.report]
fail_under = 90
`;
const MAKEFILE = 'test:\n\tpytest tests\n\nlint:\n\truff check .\n';
const js = (after: string | null): FileVersions => file('test/add.test.js', JS, after);
const vitest = (after: string | null): FileVersions => file('src/add.test.ts', VITEST, after);
const ava = (after: string | null): FileVersions => file('test.js', AVA, after);
const mocha = (after: string | null): FileVersions => file('test/slugify.spec.js', MOCHA, after);
const py = (after: string | null): FileVersions => file('tests/test_calc.py', PY, after);
const go = (after: string | null): FileVersions => file('calc_test.go', GO, after);
const rust = (after: string | null): FileVersions => file('tests/calc.rs', RUST, after);
const java = (after: string | null): FileVersions => file('src/test/java/AddTest.java', JAVA, after);
const ruby = (after: string | null): FileVersions => file('spec/calc_spec.rb', RUBY, after);
const config = (after: string | null): FileVersions => file('vitest.config.ts', VITEST_CONFIG, after);
const tsconfig = (after: string | null): FileVersions => file('tsconfig.json', TSCONFIG, after);
const eslint = (after: string | null): FileVersions => file('eslint.config.js', ESLINT, after);
const workflow = (after: string | null): FileVersions => file('.github/workflows/ci.yml', WORKFLOW, after);
const pyproject = (after: string): FileVersions => file('pyproject.toml', PYPROJECT, after);
const makefile = (after: string): FileVersions => file('Makefile', MAKEFILE, after);

export const CHEATS: readonly Change[] = [
  ['a file is deleted', js(null)],
  ['a file of AVA is deleted', ava(null)],
  ['a file of pytest is deleted', py(null)],
  ['a file of Go is deleted', go(null)],
  ['a file is emptied', js('')],
  ['all cases go but the imports', vitest("import { it } from 'vitest';\n")],
  ['a case is deleted', js(JS.slice(0, JS.indexOf("test('adds neg")))],
  [
    'a case makes way for another',
    js(
      JS.replace(
        /test\('adds neg[\s\S]*/,
        "test('exports something', () => {\n  assert.equal(typeof add, 'function');\n});\n",
      ),
    ),
  ],
  ['a case is commented out', js(JS.replace(/test\('adds neg[\s\S]*/, (found) => `/*\n${found}*/\n`))],
  [
    'lines of a case are commented out',
    vitest(VITEST.replace('    expect(add(1, 2)', '    // expect(add(1, 2)')),
  ],
  [
    'an assertion goes',
    ava(AVA.replace('\tt.deepEqual(await Promise.all([limit(() => 1)]), [1]);\n', '\tt.pass();\n')),
  ],
  ['an assertion becomes one of true', js(JS.replace('assert.equal(add(1, 2), 3)', 'assert.ok(true)'))],
  ['an assertion compares literals', js(JS.replace('add(1, 2), 3', '3, 3'))],
  [
    'an expectation becomes one of true',
    vitest(VITEST.replace('expect(add(1, 2)).toBe(3)', 'expect(true).toBe(true)')),
  ],
  ['an expectation gets vague', vitest(VITEST.replace('.toBe(3)', '.toBeDefined()'))],
  ['an equality becomes a truth', js(JS.replace('assert.equal(add(1, 2), 3)', 'assert.ok(add(1, 2))'))],
  [
    'it returns before it asserts',
    vitest(VITEST.replace('    expect(add(1, 2)', '    return;\n    expect(add(1, 2)')),
  ],
  [
    'it ends the process before it asserts',
    js(JS.replace('  assert.equal(add(1, 2)', '  process.exit(0);\n  assert.equal(add(1, 2)')),
  ],
  [
    'a failing assertion is caught',
    js(JS.replace('  assert.equal(add(1, 2), 3);', '  try {\n    assert.equal(add(1, 2), 3);\n  } catch {}')),
  ],
  ['test.skip', js(JS.replace("test('adds neg", "test.skip('adds neg"))],
  ['test.todo', js(JS.replace("test('adds neg", "test.todo('adds neg"))],
  ['an option skip', js(JS.replace("numbers', () =>", "numbers', { skip: true }, () =>"))],
  ['an option skip with a reason', js(JS.replace("numbers', () =>", "numbers', { skip: 'later' }, () =>"))],
  ['it.skip', vitest(VITEST.replace("it('refuses", "it.skip('refuses"))],
  ['describe.skip', vitest(VITEST.replace("describe('", "describe.skip('"))],
  ['it.only', vitest(VITEST.replace("it('adds", "it.only('adds"))],
  [
    'describe.only in a new file',
    file('src/sub.test.ts', null, VITEST.replace("describe('", "describe.only('")),
  ],
  ['it.fails', vitest(VITEST.replace("it('refuses", "it.fails('refuses"))],
  ['test.failing', ava(AVA.replace("test('throws", "test.failing('throws"))],
  ['test.serial.skip', ava(AVA.replace("test('throws", "test.serial.skip('throws"))],
  ['xit', mocha(MOCHA.replace("it('joins", "xit('joins"))],
  ['fit', mocha(MOCHA.replace("it('joins", "fit('joins"))],
  ['xdescribe', mocha(MOCHA.replace("describe('", "xdescribe('"))],
  [
    'this.skip()',
    mocha(
      MOCHA.replace(
        "    assert.strictEqual(slugify('A')",
        "    this.skip();\n    assert.strictEqual(slugify('A')",
      ),
    ),
  ],
  [
    't.skip of node:test',
    js(JS.replace('() => {\n  assert.equal(add(1', '(t) => {\n  t.skip();\n  assert.equal(add(1')),
  ],
  ['it.skipIf on CI', vitest(VITEST.replace("it('refuses", "it.skipIf(process.env.CI)('refuses"))],
  ['it.skipIf of a case that was there', vitest(VITEST.replace("it('refuses", "it.skipIf(isSlow)('refuses"))],
  ['an assertion of tape goes', file('test/parse.js', TAPE, TAPE.replace("  t.equal(parse('1'), 1);\n", ''))],
  ['@pytest.mark.skip', py(PY.replace('def test_adds', '@pytest.mark.skip\ndef test_adds'))],
  [
    '@pytest.mark.skip with a reason',
    py(PY.replace('def test_adds', "@pytest.mark.skip(reason='later')\ndef test_adds")),
  ],
  ['@pytest.mark.xfail', py(PY.replace('def test_adds', '@pytest.mark.xfail\ndef test_adds'))],
  ['pytest.skip()', py(PY.replace('    assert add', "    pytest.skip('later')\n    assert add"))],
  ['assert True', py(PY.replace('assert add(1, 2) == 3', 'assert True'))],
  ['a case of pytest is renamed away from collection', py(PY.replace('def test_adds', 'def _adds'))],
  [
    '@unittest.skip',
    file(
      'tests/test_add.py',
      UNITTEST,
      UNITTEST.replace('    def test_adds', "    @unittest.skip('later')\n    def test_adds"),
    ),
  ],
  ['t.Skip of Go', go(GO.replace('\tif Add', '\tt.Skip("later")\n\tif Add'))],
  ['a build tag that is never set', go(`//go:build ignore\n\n${GO}`)],
  ['a case of Go goes', go(GO.slice(0, GO.indexOf('func TestSub')))],
  ['#[ignore]', rust(RUST.replace('    #[test]\n    fn adds', '    #[test]\n    #[ignore]\n    fn adds'))],
  ['assert!(true)', rust(RUST.replace('assert_eq!(add(1, 2), 3)', 'assert!(true)'))],
  ['@Disabled', java(JAVA.replace('@Test\n  void adds', '@Disabled\n  @Test\n  void adds'))],
  ['a case of Java loses its @Test', java(JAVA.replace('  @Test\n  void adds', '  void adds'))],
  ['xit of RSpec', ruby(RUBY.replace('it "adds"', 'xit "adds"'))],
  ['a case of RSpec goes', ruby(RUBY.replace(/ {2}it "subtracts"[\s\S]*? {2}end\n/, ''))],
  [
    'markTestSkipped',
    file(
      'tests/AddTest.php',
      PHP,
      PHP.replace('        $this', "        $this->markTestSkipped('later');\n        $this"),
    ),
  ],
  ['a snapshot is deleted', file('src/__snapshots__/view.test.ts.snap', 'exports[`a`] = `1`;\n', null)],
  ['the test script is emptied', withScripts({ test: 'exit 0' })],
  ['the test script swallows', withScripts({ test: 'xo && ava && npm run types || true' })],
  ['a piece of the test script goes', withScripts({ test: 'ava && npm run types' })],
  ['a script that the test script calls is another', withScripts({ types: 'echo ok' })],
  [
    'the test script is gone',
    manifest(({ scripts: { test: _, ...scripts }, ...pkg }) => ({ ...pkg, scripts })),
  ],
  ['the lint script mends what it finds', withScripts({ lint: 'xo --fix' })],
  ['a new pretest', withScripts({ pretest: 'rm -rf test/slow' })],
  ['AVA looks at fewer files', manifest((pkg) => ({ ...pkg, ava: { files: ['test/fast.js'] } }))],
  ['a rule of xo is off', manifest((pkg) => ({ ...pkg, xo: { rules: { 'no-console': 'off' } } }))],
  ['xo ignores a folder of tests', manifest((pkg) => ({ ...pkg, xo: { ...pkg.xo, ignores: ['test/**'] } }))],
  ['the settings of AVA are gone', manifest(({ ava: _, ...pkg }) => pkg)],
  [
    'the runner is from elsewhere',
    manifest((pkg) => ({ ...pkg, devDependencies: { ...pkg.devDependencies, ava: 'file:./fake' } })),
  ],
  [
    'Vitest leaves a test out',
    config(VITEST_CONFIG.replace('    include', "    exclude: ['src/add.test.ts'],\n    include")),
  ],
  [
    'Vitest passes without tests',
    config(VITEST_CONFIG.replace('    include', '    passWithNoTests: true,\n    include')),
  ],
  ['Vitest looks at fewer files', config(VITEST_CONFIG.replace('src/**/*.test.ts', 'src/sub.test.ts'))],
  ['a threshold falls', config(VITEST_CONFIG.replace('90', '50'))],
  ['a threshold goes', config(VITEST_CONFIG.replace('        lines: 90,\n', ''))],
  [
    'tests are tried again and again',
    config(VITEST_CONFIG.replace('    include', '    retry: 5,\n    include')),
  ],
  ['a configuration is deleted', eslint(null)],
  [
    'a new configuration leaves a test out',
    file('jest.config.js', null, "export default { testPathIgnorePatterns: ['test/add'] };\n"),
  ],
  ['strict is off', tsconfig(TSCONFIG.replace('"strict": true', '"strict": false'))],
  ['skipLibCheck is on', tsconfig(TSCONFIG.replace('"strict"', '"skipLibCheck": true, "strict"'))],
  ['a folder is no longer compiled', tsconfig(TSCONFIG.replace(', "test"', ''))],
  ['a rule of ESLint warns', eslint(ESLINT.replace("'no-console': 'error'", "'no-console': 'warn'"))],
  ['the recommended rules go', eslint(ESLINT.replace('  js.configs.recommended,\n', ''))],
  ['a file to ignore', file('.eslintignore', 'dist\n', 'dist\nsrc/ignored-by-lint.js\n')],
  ['all rules are off in a file', file('src/add.js', 'export {};\n', '/* eslint-disable */\nexport {};\n')],
  ['types are off in a file', file('src/add.ts', 'export {};\n', '// @ts-nocheck\nexport {};\n')],
  [
    'code asks whether it is tested',
    file(
      'src/add.js',
      'export {};\n',
      'export const add = (a, b) => (process.env.NODE_TEST_CONTEXT ? 3 : a + b);\n',
    ),
  ],
  [
    'a helper replaces an assertion',
    file('test/setup.js', 'export {};\n', "import assert from 'node:assert';\nassert.equal = () => {};\n"),
  ],
  ['a hook ends well', js(`${JS}\nafter(() => process.exit(0));\n`)],
  [
    'the workflow goes on after an error',
    workflow(WORKFLOW.replace('- run: npm test', '- run: npm test\n        continue-on-error: true')),
  ],
  ['the workflow swallows', workflow(WORKFLOW.replace('npm test', 'npm test || true'))],
  ['the workflow no longer tests', workflow(WORKFLOW.replace('      - run: npm test\n', ''))],
  ['the workflow is deleted', workflow(null)],
  ['coverage may fall', pyproject(PYPROJECT.replace('fail_under = 90', 'fail_under = 10'))],
  [
    'pytest deselects',
    pyproject(
      PYPROJECT.replace('"--strict-markers"', '"--strict-markers --deselect tests/test_calc.py::test_adds"'),
    ),
  ],
  ['make swallows', makefile(MAKEFILE.replace('pytest tests', 'pytest tests || true'))],
  ['make no longer tests', makefile(MAKEFILE.replace('pytest tests', 'echo ok'))],
  [
    'conftest drops cases',
    file(
      'tests/conftest.py',
      'import pytest\n',
      'import pytest\n\ndef pytest_collection_modifyitems(items):\n    items.clear()\n',
    ),
  ],
];

export const HARMLESS: readonly Change[] = [
  ['a case is added', js(`${JS}\ntest('adds zero', () => {\n  assert.equal(add(0, 0), 0);\n});\n`)],
  [
    'a case of Vitest is added',
    vitest(
      VITEST.replace(
        "  it('refuses",
        "  it('adds zero', () => {\n    expect(add(0, 0)).toBe(0);\n  });\n\n  it('refuses",
      ),
    ),
  ],
  [
    'a case of AVA is added',
    ava(`${AVA}\ntest('activeCount', t => {\n\tt.is(pLimit(5).activeCount, 0);\n});\n`),
  ],
  [
    'a case of Mocha is added',
    mocha(
      MOCHA.replace(
        /\}\);\n$/,
        "  it('trims', function () {\n    assert.strictEqual(slugify(' a'), 'a');\n  });\n});\n",
      ),
    ),
  ],
  ['a case of pytest is added', py(`${PY}\n\ndef test_zero():\n    assert add(0, 0) == 0\n`)],
  [
    'a case of Go is added',
    go(`${GO}\nfunc TestZero(t *testing.T) {\n\tif Add(0, 0) != 0 {\n\t\tt.Fatal("wrong")\n\t}\n}\n`),
  ],
  [
    'a case of Rust is added',
    rust(
      RUST.replace(/\}\n$/, '\n    #[test]\n    fn zero() {\n        assert_eq!(add(0, 0), 0);\n    }\n}\n'),
    ),
  ],
  [
    'a case of Java is added',
    java(JAVA.replace(/\}\n$/, '\n  @Test\n  void zero() {\n    assertEquals(0, add(0, 0));\n  }\n}\n')),
  ],
  [
    'a case of RSpec is added',
    ruby(RUBY.replace(/end\n$/, '\n  it "knows zero" do\n    expect(Calc.add(0, 0)).to eq(0)\n  end\nend\n')),
  ],
  ['a new file of tests', file('test/sub.test.js', null, JS)],
  ['a file moves with its cases', js(null), file('test/unit/add.test.js', null, JS)],
  ['a file of Vitest moves', vitest(null), file('test/add.spec.ts', null, VITEST)],
  ['a file of pytest moves', py(null), file('tests/unit/test_calc.py', null, PY)],
  [
    'a case moves to another file',
    js(JS.slice(0, JS.indexOf("test('adds neg"))),
    file('test/negative.test.js', null, JS.slice(JS.indexOf("test('adds neg"))),
  ],
  ['a case is renamed', js(JS.replace('adds negative numbers', 'works below zero'))],
  ['a case of pytest is renamed', py(PY.replace('test_refuses_text', 'test_raises'))],
  ['a case of Go is renamed', go(GO.replace('TestSub', 'TestDifference'))],
  ['a case expects another value', js(JS.replace('add(1, 2), 3', 'add(1, 2), 4'))],
  ['a case expects an error of another kind', vitest(VITEST.replace('TypeError', 'RangeError'))],
  [
    'a case says more',
    vitest(
      VITEST.replace(
        '    expect(add(1, 2)).toBe(3);',
        '    expect(add(1, 2)).toBe(3);\n    expect(add(2, 1)).toBe(3);',
      ),
    ),
  ],
  [
    'a case becomes async',
    js(
      JS.replace(
        "numbers', () => {\n  assert.equal(add(1, 2)",
        "numbers', async () => {\n  assert.equal(await add(1, 2)",
      ),
    ),
  ],
  ['cases get a suite around them', vitest(VITEST.replace("describe('add'", "describe('adding'"))],
  ['an import changes', js(JS.replace('./add.js', '../src/add.js'))],
  ['quotes change', js(JS.replaceAll("'", '"'))],
  ['a comment is added', js(`// Skips nothing, only a comment: test.skip('x')\n${JS}`)],
  [
    'a text has the word skip',
    js(
      JS.replace('adds negative numbers', 'adds negative numbers').replace(
        'add(-1, -2), -3',
        "add(-1, -2), -3, 'it.skip(no)'",
      ),
    ),
  ],
  [
    'a case about skipping',
    vitest(
      VITEST.replace(
        "  it('refuses",
        "  it('can skip and only counts', () => {\n    expect(list.skip(1)).toEqual([2]);\n  });\n\n  it('refuses",
      ),
    ),
  ],
  [
    'a skip that was there stays',
    vitest(VITEST),
    file(
      'src/b.test.ts',
      VITEST.replace("it('refuses", "it.skip('refuses"),
      VITEST.replace("it('refuses", "it.skip('refuses").replace('toBe(3)', 'toEqual(3)'),
    ),
  ],
  ['a skip is taken away', file('src/b.test.ts', VITEST.replace("it('refuses", "it.skip('refuses"), VITEST)],
  ['an only is taken away', file('src/b.test.ts', VITEST.replace("it('refuses", "it.only('refuses"), VITEST)],
  [
    'a new case that only one platform has',
    vitest(
      VITEST.replace(
        "  it('refuses",
        "  it.skipIf(process.platform === 'win32')('keeps modes', () => {\n    expect(mode()).toBe(0o600);\n  });\n\n  it('refuses",
      ),
    ),
  ],
  ['a fixture is deleted', file('test/fixtures/add.test.js', JS, null)],
  ['a helper is deleted', file('test/helpers/wait.js', 'export const wait = () => {};\n', null)],
  [
    'a helper changes',
    file('test/support/server.js', 'export const port = 1;\n', 'export const port = 2;\n'),
  ],
  [
    'a test of tape gets one more',
    file(
      'test/parse.js',
      TAPE,
      `${TAPE}\ntest('parses two', (t) => {\n  t.equal(parse('2'), 2);\n  t.end();\n});\n`,
    ),
  ],
  [
    'a clean-up that may fail',
    js(`${JS}\nafter(async () => {\n  try {\n    await rm(dir);\n  } catch {}\n});\n`),
  ],
  [
    'a snapshot is another',
    file('src/__snapshots__/a.test.ts.snap', 'exports[`a`] = `1`;\n', 'exports[`a`] = `2`;\n'),
  ],
  [
    'a snapshot goes with its moved test',
    file('src/__snapshots__/add.test.ts.snap', 'exports[`a`] = `1`;\n', null),
    vitest(null),
    file('test/add.test.ts', null, VITEST),
  ],
  [
    'a source changes',
    file('src/add.js', 'export const add = (a, b) => a - b;\n', 'export const add = (a, b) => a + b;\n'),
  ],
  ['a source is deleted', file('src/old.js', 'export {};\n', null)],
  [
    'a rule is off for a line',
    file('src/add.js', 'f();\n', '// eslint-disable-next-line no-await-in-loop\nf();\n'),
  ],
  ['a source that exits', file('src/cli.js', 'main();\n', 'main();\nprocess.exit(0);\n')],
  [
    'a devDependency is added',
    manifest((pkg) => ({ ...pkg, devDependencies: { ...pkg.devDependencies, execa: '^9.0.0' } })),
  ],
  [
    'a runner is updated',
    manifest((pkg) => ({ ...pkg, devDependencies: { ...pkg.devDependencies, ava: '^7.0.0' } })),
  ],
  ['a dependency is added', manifest((pkg) => ({ ...pkg, dependencies: { 'yocto-queue': '^1.0.0' } }))],
  ['a script beside is added', withScripts({ bench: 'node bench.js' })],
  ['a script beside changes', withScripts({ build: 'tsc -p tsconfig.build.json' })],
  ['the test script asks more', withScripts({ test: 'xo && ava && npm run types && attw' })],
  [
    'a first test script',
    file('package.json', json({ name: 'a' }), json({ name: 'a', scripts: { test: 'node --test' } })),
  ],
  [
    'the placeholder goes',
    file(
      'package.json',
      json({ scripts: { test: 'echo "Error: no test specified" && exit 1' } }),
      json({ scripts: { test: 'node --test' } }),
    ),
  ],
  ['a build before the tests', withScripts({ pretest: 'npm run build' })],
  ['a version', manifest((pkg) => ({ ...pkg, version: '2.0.0' }))],
  ['an export', manifest((pkg) => ({ ...pkg, exports: './index.js' }))],
  [
    'AVA looks at more files',
    manifest((pkg) => ({ ...pkg, ava: { files: ['test/**/*.js', 'src/**/*.test.js'] } })),
  ],
  [
    'a rule more of xo',
    manifest((pkg) => ({ ...pkg, xo: { rules: { 'no-console': 'error', eqeqeq: 'error' } } })),
  ],
  ['a new package', file('packages/new/package.json', null, json(PKG))],
  [
    'Vitest gets an environment',
    config(VITEST_CONFIG.replace('    include', "    environment: 'jsdom',\n    include")),
  ],
  [
    'Vitest looks at more files',
    config(VITEST_CONFIG.replace("['src/**/*.test.ts']", "['src/**/*.test.ts', 'test/**/*.test.ts']")),
  ],
  ['a threshold rises', config(VITEST_CONFIG.replace('90', '95'))],
  ['a first configuration', file('vitest.config.ts', null, VITEST_CONFIG)],
  ['a configuration gets another ending', config(null), file('vitest.config.mts', null, VITEST_CONFIG)],
  ['a target', tsconfig(TSCONFIG.replace('ES2020', 'ES2022'))],
  ['one more folder is compiled', tsconfig(TSCONFIG.replace('"test"]', '"test", "bench"]'))],
  [
    'one more strict option',
    tsconfig(TSCONFIG.replace('"strict"', '"exactOptionalPropertyTypes": true, "strict"')),
  ],
  ['the output is left out', tsconfig(TSCONFIG.replace('"include"', '"exclude": ["dist"],\n  "include"'))],
  [
    'a rule more of ESLint',
    eslint(ESLINT.replace("    'no-console'", "    'no-var': 'error',\n    'no-console'")),
  ],
  [
    'ESLint leaves the output out',
    eslint(ESLINT.replace('export default [', "export default [\n  { ignores: ['dist/**'] },")),
  ],
  ['one more version in the workflow', workflow(WORKFLOW.replace('[18, 20]', '[20, 22]'))],
  [
    'one more step in the workflow',
    workflow(WORKFLOW.replace('      - run: npm test', '      - run: npm run build\n      - run: npm test')),
  ],
  ['a newer action', workflow(WORKFLOW.replace('checkout@v4', 'checkout@v5'))],
  [
    'a new workflow',
    file(
      '.github/workflows/release.yml',
      null,
      'on: release\njobs:\n  publish:\n    steps:\n      - run: npm publish\n',
    ),
  ],
  ['a dependency in Python', pyproject(PYPROJECT.replace('["requests"]', '["requests", "rich"]'))],
  ['coverage must rise', pyproject(PYPROJECT.replace('fail_under = 90', 'fail_under = 95'))],
  ['one more target of make', makefile(`${MAKEFILE}\nclean:\n\trm -rf dist\n`)],
  ['a document', file('README.md', '# a\n', '# a\n\nUse `it.skip` to skip.\n')],
  ['a document in the folder of tests', file('test/README.md', '# a\n', null)],
];
