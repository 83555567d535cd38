import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** Type-checks one file under the settings of the root; which files the root reads is `verify-typecheck.mjs`'s. */
function check(source: string): { readonly status: number | null; readonly stdout: string } {
  const dir = mkdtempSync(join(tmpdir(), 'devs-types-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(dir, 'planted.ts'), source);
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    include: [],
    files: ['planted.ts'],
  };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(config));
  return spawnSync(process.execPath, [tsc, '--noEmit', '-p', dir], { encoding: 'utf8' });
}

describe('the type check', () => {
  test('passes a file without errors', () => {
    expect(check('export const text: string = "1";\n')).toMatchObject({ status: 0, stdout: '' });
  });

  test.for([
    ['a wrong type', 'export const text: string = 1;\n', 'TS2322'],
    ['an index that may be missing', 'export const first: string = ["a"][0];\n', 'TS2322'],
    ['an unused local', 'const unused = 1;\nexport {};\n', 'TS6133'],
  ] as const)('fails on %s that is planted', ([_what, source, code]) => {
    const { status, stdout } = check(source);
    expect(status).not.toBe(0);
    expect(stdout).toContain('planted.ts');
    expect(stdout).toContain(code);
  });
});
