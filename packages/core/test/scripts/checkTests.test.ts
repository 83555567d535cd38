import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../../../scripts/check-tests.mjs', import.meta.url));

interface File {
  readonly path: string;
  readonly text: string;
}

function wronglyNamed(...files: readonly File[]): string[] {
  const code = `import { wronglyNamed } from ${JSON.stringify(script)};
    console.log(JSON.stringify(wronglyNamed(JSON.parse(process.argv[1]))));`;
  const args = ['--input-type=module', '-e', code, JSON.stringify(files)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as string[];
}

/** Not spelled out: this file shares a process. */
const MOCKS = ['vi', "mock('node:fs');"].join('.');
const MASKS = ['register', "Secrets(['a-secret-value']);"].join('');
const BROWSER = ['open', 'Chromium();'].join('');

const at = (name: string): string => `packages/cli/test/${name}.test.ts`;
const called = (from: string, to: string): string =>
  `${at(from)}: changes what others in its process would see: call it ${at(to)}`;

test('a file is in the process that its text needs', () => {
  const files = [
    { path: at('plain'), text: 'expect(1).toBe(1);' },
    { path: at('mocks'), text: MOCKS },
    { path: at('masks.traces'), text: MASKS },
    { path: at('page'), text: BROWSER },
    { path: at('told'), text: `// ${MOCKS}` },
  ];
  expect(wronglyNamed(...files)).toEqual([
    called('mocks', 'mocks.own'),
    called('masks.traces', 'masks.own'),
    called('page', 'page.traces'),
  ]);
});

test('a process of its own does for everything, and registries of their own need none', () => {
  const files = [
    { path: at('mocks.own'), text: MOCKS },
    { path: at('page.own'), text: BROWSER },
    { path: at('page.traces'), text: BROWSER },
    {
      path: 'packages/core/src/masking/__tests__/rules.test.ts',
      text: `${MASKS} const KEY = { ${['MY', 'API_KEY'].join('_')}: 'x' };`,
    },
  ];
  expect(wronglyNamed(...files)).toEqual([]);
});
