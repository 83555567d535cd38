import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
const guard = fileURLToPath(new URL('../support/failOnNoise.ts', import.meta.url));

const PLANTED = `import { afterAll, test, vi } from 'vitest';
afterAll(() => console.log('after all'));
test('prints', () => console.warn('one of %d', 2));
test('is quiet', () => {});
test('writes', () => void process.stdout.write('a figure\\n'));
test('warns', () => process.emitWarning('a listener too many'));
test('expects a line', () => {
  const info = vi.spyOn(console, 'info').mockImplementation(() => {});
  console.info('expected');
  info.mockRestore();
});
`;

/** Runs Vitest on a planted file under the guard. */
function runPlanted(): { readonly status: number | null; readonly output: string } {
  const root = mkdtempSync(join(tmpdir(), 'devs-noise-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  symlinkSync(modules, join(root, 'node_modules'));
  writeFileSync(join(root, 'planted.test.ts'), PLANTED);
  const config = { pool: 'forks', setupFiles: guard, include: ['planted.test.ts'] };
  writeFileSync(join(root, 'vitest.config.mjs'), `export default { test: ${JSON.stringify(config)} };`);
  const vitest = [join(modules, 'vitest', 'vitest.mjs'), 'run', '--root', root];
  const { status, stdout, stderr } = spawnSync(process.execPath, vitest, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });
  return { status, output: stdout + stderr };
}

describe('the guard against noise', () => {
  test('fails what prints or warns, and lets a test expect a line', () => {
    const { status, output } = runPlanted();
    expect(status).toBe(1);
    expect(output).toContain('console.warn: one of 2');
    expect(output).toContain('console.log: after all');
    expect(output).toContain('stdout: a figure');
    expect(output).toContain('Warning: a listener too many');
    expect(output).toMatch(/2 failed \| 3 passed/);
    expect(output).not.toContain('console.info');
  });
});
