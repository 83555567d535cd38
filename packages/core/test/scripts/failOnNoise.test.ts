import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mergeConfig, type ViteUserConfig } from 'vitest/config';

const config = new URL('../../../../vitest.config.ts', import.meta.url);
const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
const support = (name: string): string => fileURLToPath(new URL(`../support/${name}`, import.meta.url));
const EACH = ['failOnNoise.ts', 'sameCases.ts', 'processorTime.ts'].map(support);
const rest = support('leavesNothing.ts');
const traces = support('leavesTraces.ts');

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

const LEAVES = `import { test } from 'vitest';
test('changes the environment', () => { process.env.PLANTED = 'left'; });
`;

/** Runs Vitest on a planted file under the guards, as files run that share a process. */
function runPlanted(text: string): { readonly status: number | null; readonly output: string } {
  const root = mkdtempSync(join(tmpdir(), 'devs-noise-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  symlinkSync(modules, join(root, 'node_modules'));
  writeFileSync(join(root, 'planted.test.ts'), text);
  const config = { pool: 'forks', isolate: false, setupFiles: [...EACH, rest], include: ['planted.test.ts'] };
  writeFileSync(join(root, 'vitest.config.mjs'), `export default { test: ${JSON.stringify(config)} };`);
  const vitest = [join(modules, 'vitest', 'vitest.mjs'), 'run', '--root', root];
  const { status, stdout, stderr } = spawnSync(process.execPath, vitest, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });
  return { status, output: stdout + stderr };
}

describe('the guards of all tests', () => {
  test('guard each project, in a process of its own or a shared one', async () => {
    const { default: root } = (await import(config.href)) as { readonly default: ViteUserConfig };
    const projects = root.test?.projects ?? [];
    const own = projects.map((project) => {
      if (typeof project !== 'object' || !('test' in project)) throw new Error('Not a project.');
      const { test: merged } = mergeConfig({ test: root.test ?? {} }, { test: project.test ?? {} });
      return { name: merged?.name, isolate: merged?.isolate, setup: merged?.setupFiles };
    });
    expect(own.length).toBeGreaterThan(3);
    for (const { name, isolate, setup } of own) {
      const last = name === 'traces' ? traces : rest;
      expect(setup).toEqual(isolate === false ? [...EACH, last] : EACH);
    }
  });

  test('fail a file that changes its process', () => {
    const { status, output } = runPlanted(LEAVES);
    expect(status).toBe(1);
    expect(output).toContain('The test file left something behind in the process');
    expect(output).toContain('"PLANTED": "left"');
    expect(output).toContain('1 passed');
  });

  test('fail what prints or warns, and let a test expect a line', () => {
    const { status, output } = runPlanted(PLANTED);
    expect(status).toBe(1);
    expect(output).toContain('console.warn: one of 2');
    expect(output).toContain('console.log: after all');
    expect(output).toContain('stdout: a figure');
    expect(output).toContain('Warning: a listener too many');
    expect(output).toMatch(/2 failed \| 3 passed/);
    expect(output).not.toContain('console.info');
  });
});
