import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectProject } from '../detectProject.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'devs-init-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(file: string, content: string | object): void {
  const target = path.join(root, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, typeof content === 'string' ? content : JSON.stringify(content));
}

const scripts = (...names: string[]): object => ({
  scripts: Object.fromEntries(names.map((name) => [name, `run ${name}`])),
});

describe('detectProject', () => {
  it('finds nothing in an empty folder, and says so', async () => {
    expect(await detectProject(root)).toEqual({
      isRepository: false,
      inRepository: null,
      packageManager: null,
      packages: [],
      config: { checks: [] },
    });
  });

  it.each([
    ['package-lock.json', 'npm', ['npm', 'ci']],
    ['pnpm-lock.yaml', 'pnpm', ['pnpm', 'install', '--frozen-lockfile']],
    ['yarn.lock', 'yarn', ['yarn', 'install', '--frozen-lockfile']],
    ['README.md', 'npm', ['npm', 'install']],
  ])('reads the package manager from %s', async (lockfile, packageManager, setup) => {
    write(lockfile, '');
    write('package.json', { ...scripts('test', 'lint'), devDependencies: { vitest: '4.0.0' } });
    const found = await detectProject(root);
    expect(found).toMatchObject({ packageManager, config: { setup } });
    expect(found.config.checks).toEqual([
      { name: 'test', dir: '.', argv: [packageManager, 'run', 'test'] },
      { name: 'lint', dir: '.', argv: [packageManager, 'run', 'lint'] },
    ]);
  });

  it.each([
    ['package-lock.json', ['npm', 'exec', '--no', '--']],
    ['pnpm-lock.yaml', ['pnpm', 'exec']],
    ['yarn.lock', ['yarn', 'exec', '--']],
  ])('takes a test script apart that only runs programs: %s', async (lockfile, exec) => {
    write(lockfile, '');
    write('package.json', { scripts: { test: 'xo && ava --serial && node check.js' } });
    expect((await detectProject(root)).config.checks).toEqual([
      { name: 'xo', dir: '.', argv: [...exec, 'xo'] },
      { name: 'ava', dir: '.', argv: [...exec, 'ava', '--serial'] },
      { name: 'node', dir: '.', argv: ['node', 'check.js'] },
    ]);
  });

  it.each([
    [{ test: 'xo && ava', pretest: 'npm run build' }],
    [{ test: 'xo && ava', posttest: 'rm -rf tmp' }],
    [{ test: 'cd a && ava' }],
    [{ test: 'NODE_ENV=test ava && tsd' }],
    [{ test: 'xo && ava "test/*.js"' }],
    [{ test: 'xo && ava || true' }],
    [{ test: 'xo && ava & wait' }],
    [{ test: 'ava' }],
  ])('leaves a test script whole that would do something else in pieces: %j', async (given) => {
    write('package.json', { scripts: given });
    expect((await detectProject(root)).config.checks).toEqual([
      { name: 'test', dir: '.', argv: ['npm', 'run', 'test'] },
    ]);
  });

  it('believes the packageManager field before a lockfile', async () => {
    write('package-lock.json', '');
    write('package.json', { packageManager: 'pnpm@10.34.9', dependencies: { a: '1.0.0' } });
    expect(await detectProject(root)).toMatchObject({
      packageManager: 'pnpm',
      config: { setup: ['pnpm', 'install'] },
    });
  });

  it('knows the flag of a newer yarn', async () => {
    write('yarn.lock', '');
    write('.yarnrc.yml', '');
    write('package.json', { dependencies: { a: '1.0.0' } });
    expect((await detectProject(root)).config.setup).toEqual(['yarn', 'install', '--immutable']);
  });

  it('checks each package of a pnpm monorepo, and lints the whole', async () => {
    write(
      'pnpm-workspace.yaml',
      "packages:\n  - packages/* # all\n  - '!packages/old'\n\ncatalog:\n  a: 1.0.0\n",
    );
    write('package.json', scripts('test', 'lint'));
    write('packages/api/package.json', { name: '@x/api', ...scripts('test') });
    write('packages/web/package.json', scripts('test'));
    write('packages/types/package.json', { name: '@x/types' });
    write('packages/old/package.json', scripts('test'));
    write('packages/web/node_modules/dep/package.json', scripts('test'));
    const found = await detectProject(root);
    expect(found.packages).toEqual(['packages/api', 'packages/types', 'packages/web']);
    expect(found.config.checks).toEqual([
      { name: '@x/api', dir: 'packages/api', argv: ['npm', 'run', 'test'] },
      { name: 'packages/web', dir: 'packages/web', argv: ['npm', 'run', 'test'] },
      { name: 'lint', dir: '.', argv: ['npm', 'run', 'lint'] },
    ]);
  });

  it.each([[['apps/*']], [{ packages: ['apps/*'] }]])(
    'reads npm and yarn workspaces: %j',
    async (workspaces) => {
      write('package.json', { workspaces });
      write('apps/web/package.json', scripts('test'));
      expect((await detectProject(root)).packages).toEqual(['apps/web']);
    },
  );

  it('does not take the placeholder of npm init for a test', async () => {
    write('package.json', { scripts: { test: 'echo "Error: no test specified" && exit 1' } });
    expect((await detectProject(root)).config.checks).toEqual([]);
  });

  it.each([
    ['package.json', '{'],
    ['package.json', { scripts: ['test'] }],
    ['pnpm-workspace.yaml', 'packages: 3'],
  ])('names a %s that cannot be read', async (file, content) => {
    write('package.json', {});
    write(file, content);
    await expect(detectProject(root)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(file),
    });
  });
});
