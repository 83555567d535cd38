import { execFileSync } from 'node:child_process';
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
    const git = {
      isRepository: false,
      inRepository: null,
      hasCommit: false,
      hasDevsBranch: false,
      submodules: [],
    };
    expect(await detectProject(root)).toEqual({
      git,
      packageManager: null,
      packages: [],
      hints: [],
      config: { checks: [] },
    });
  });

  it.each([
    ['package-lock.json', 'npm', ['npm', 'ci']],
    ['pnpm-lock.yaml', 'pnpm', ['pnpm', 'install', '--frozen-lockfile']],
    ['yarn.lock', 'yarn', ['yarn', 'install', '--frozen-lockfile']],
    ['bun.lock', 'bun', ['bun', 'install', '--frozen-lockfile']],
    ['bun.lockb', 'bun', ['bun', 'install', '--frozen-lockfile']],
    ['npm-shrinkwrap.json', 'npm', ['npm', 'ci']],
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
    ['bun.lock', ['bunx', '--no-install']],
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

  it.each([
    // ufo 1.6: its test begins with its lint.
    [
      { lint: 'eslint . && prettier -c src test', test: 'pnpm lint && pnpm vitest run --typecheck' },
      [
        ['lint', 'pnpm', 'lint'],
        ['vitest', 'pnpm', 'vitest', 'run', '--typecheck'],
      ],
    ],
    [
      { lint: 'xo', test: 'xo && ava' },
      [
        ['xo', 'pnpm', 'exec', 'xo'],
        ['ava', 'pnpm', 'exec', 'ava'],
      ],
    ],
    [{ lint: 'xo', test: 'pnpm run lint && ava "a/*.js"' }, [['test', 'pnpm', 'run', 'test']]],
    [
      { lint: 'xo', test: 'pnpm run lint:md && ava' },
      [
        ['lint:md', 'pnpm', 'run', 'lint:md'],
        ['ava', 'pnpm', 'exec', 'ava'],
        ['lint', 'pnpm', 'run', 'lint'],
      ],
    ],
    [
      { test: 'node a.js && node b.js' },
      [
        ['node 1', 'node', 'a.js'],
        ['node 2', 'node', 'b.js'],
      ],
    ],
  ] as const)('runs each check once, under a name of its own: %j', async (given, checks) => {
    write('pnpm-lock.yaml', '');
    write('package.json', { scripts: given });
    const found = (await detectProject(root)).config.checks ?? [];
    expect(found.map(({ name, argv }) => [name, ...argv])).toEqual(checks);
  });

  it('installs from a lockfile only where a run has it', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], { cwd: root });
    const setup = async () => (await detectProject(root)).config.setup;
    git('init', '-q', '-b', 'main');
    write('.gitignore', 'package-lock.json\n');
    write('package-lock.json', '');
    write('package.json', { dependencies: { a: '1.0.0' } });
    expect(await setup()).toEqual(['npm', 'install']);
    write('.gitignore', '');
    expect(await setup()).toEqual(['npm', 'ci']);
    expect((await detectProject(root)).git).toMatchObject({ isRepository: true, hasCommit: false });
    git('add', 'package.json');
    git('commit', '-q', '-m', 'First');
    expect(await setup()).toEqual(['npm', 'install']);
    git('add', 'package-lock.json');
    git('commit', '-q', '-m', 'Locked');
    git('branch', 'devs');
    expect(await setup()).toEqual(['npm', 'ci']);
    expect((await detectProject(root)).git).toMatchObject({ hasCommit: true, hasDevsBranch: true });
  });

  it.each([
    [
      { 'pyproject.toml': '[dependency-groups]\ndev = ["pytest"]\n', 'uv.lock': '' },
      ['uv', 'sync', '--locked'],
      ['uv', 'run', '--no-sync', 'pytest'],
    ],
    [
      { 'pyproject.toml': '[tool.uv]\n', 'tests/test_a.py': '' },
      ['uv', 'sync'],
      ['uv', 'run', '--no-sync', 'pytest'],
    ],
    [{ 'requirements.txt': 'pytest==8\n' }, undefined, ['python3', '-m', 'pytest']],
    [{ 'setup.py': '', 'tests/conftest.py': '' }, undefined, ['python3', '-m', 'pytest']],
  ] as const)('checks a project of Python: %j', async (files, setup, argv) => {
    for (const [name, text] of Object.entries(files)) write(name, text);
    const { config, hints } = await detectProject(root);
    expect(config.checks).toEqual([{ name: 'pytest', dir: '.', argv }]);
    expect(config.setup).toEqual(setup);
    expect(hints.join()).toEqual(setup === undefined ? expect.stringContaining('"setup"') : '');
  });

  it('runs the targets of a Makefile, where nothing else checks', async () => {
    write(
      'Makefile',
      'CC := gcc\n.PHONY: test lint\nbuild: a.c\n\t$(CC) a.c\ntest: build\n\t./a\nlint:\n\ttrue\n',
    );
    const both = [
      { name: 'test', dir: '.', argv: ['make', 'test'] },
      { name: 'lint', dir: '.', argv: ['make', 'lint'] },
    ];
    expect((await detectProject(root)).config.checks).toEqual(both);
    write('package.json', { devDependencies: { a: '1.0.0' } });
    expect((await detectProject(root)).config).toEqual({ setup: ['npm', 'install'], checks: both });
    write('package.json', scripts('test'));
    expect((await detectProject(root)).config.checks).toEqual([
      { name: 'test', dir: '.', argv: ['npm', 'run', 'test'] },
    ]);
  });

  it.each([
    ['Cargo.toml', 'Rust', '["cargo","test"]'],
    ['go.mod', 'Go', '["go","test","./..."]'],
    ['App.csproj', '.NET', '["dotnet","test"]'],
  ])('of %s says with which setting its checks are named', async (file, name, argv) => {
    write(file, '');
    const { config, hints } = await detectProject(root);
    expect(config).toEqual({ checks: [] });
    expect(hints).toEqual([expect.stringMatching(`^${name.replace('.', '\\.')}: `)]);
    expect(hints[0]).toContain(argv);
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
