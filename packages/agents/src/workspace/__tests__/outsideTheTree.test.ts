import { execFile } from 'node:child_process';
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CheckResult, FileEdit } from '@devs/core';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { howMany } from '../../../../core/test/support/howMany.ts';
import { tried } from '../../../../core/test/support/tried.ts';
import { CommandChecks } from '../../checks/CommandChecks.ts';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace, type GitWorkspaceOptions } from '../GitWorkspace.ts';

const execute = promisify(execFile);
const { signal } = new AbortController();

/** Installs a runner that goes by the manifest, as a package manager would. */
const SETUP = `
  needs=$(sed -n 's/.*"needs":"\\([^"]*\\)".*/\\1/p' package.json)
  [ "$needs" != 'nothing there is' ] || exit 1
  mkdir -p node_modules/runner
  echo "grep -q '= \\"$needs\\";' code.js" > node_modules/runner/run
`;

/** Judges by the runner and by what was built before, as incremental builds do; leaves a green runner and a cache behind. */
const CHECK = `
  [ -e dist/code.js ] || { mkdir -p dist && cp code.js dist/code.js; }
  runner=node_modules/runner/run
  [ ! -d $runner ] || runner=$runner/index
  sh $runner
  status=$?
  echo 'exit 0' > node_modules/runner/run
  mkdir -p node_modules/.cache
  printf x >> node_modules/.cache/runs
  [ $status = 0 ] && ! grep -q '= "broken";' dist/code.js
`;

/** As installers do, beside what only a project's own setup makes. */
const LOCKING = `
  for at in package-lock.json sub/package-lock.json; do printf 'made by setup' > $at; done 2> /dev/null
  : > generated.js
`;

const shell = (script: string): CommandChecks => new CommandChecks({ argv: ['sh', '-c', script] });
const check = shell(CHECK);

let base: string;
let setups: string;
let run: GitRunWorkspace;

const setup: GitWorkspaceOptions['setup'] = {
  run: async ({ dir }) => {
    await writeFile(setups, `${await readFile(setups, 'utf8').catch(() => '')}x`);
    return shell(SETUP).run({ dir, signal });
  },
};

const open = async (options: Partial<GitWorkspaceOptions> = {}): Promise<GitRunWorkspace> =>
  (await new GitWorkspace({ dir: base, setup, ...options }).open('r')) as GitRunWorkspace;

const inFolder = (path: string): string => join(run.dir, path);
const code = (text: string): FileEdit => ({
  path: 'code.js',
  content: `module.exports = ${JSON.stringify(text)};\n`,
});
const manifest = (needs: string): FileEdit => ({ path: 'package.json', content: JSON.stringify({ needs }) });
const setupsRun = async (): Promise<number> => (await readFile(setups, 'utf8').catch(() => '')).length;

async function treeOf(...edits: readonly FileEdit[]): Promise<string> {
  await run.apply(edits);
  return run.snapshot();
}

/** As the engine asks for it. */
async function verdict(tree: string): Promise<CheckResult> {
  await run.restore(tree);
  const failure = await run.ready(tree, signal);
  const result = failure ?? (await check.run({ dir: run.dir, signal }));
  await run.discard(tree);
  return result;
}

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'devs-outside-'));
  setups = join(base, 'setups');
  run = (await new GitWorkspace({ dir: base }).open('r')) as GitRunWorkspace;
  await treeOf({ path: '.gitignore', content: 'dist/\n' }, manifest('right'), code('wrong'));
});

afterEach(() => rm(base, { recursive: true, force: true }));

describe('a verdict', () => {
  it('does not come from a runner that an earlier check has replaced', async () => {
    run = await open();
    const right = await treeOf(code('right'));
    expect(await verdict(right)).toMatchObject({ passed: true });
    const wrong = await treeOf(code('wrong'));
    expect(await verdict(wrong)).toMatchObject({ passed: false });
    expect(await verdict(right)).toMatchObject({ passed: true });
    expect(await setupsRun()).toBe(1);
  });

  it('does not come from what an earlier check has built', async () => {
    run = await open();
    expect(await verdict(await treeOf(code('broken')))).toMatchObject({ passed: false });
    expect(await verdict(await treeOf(code('right')))).toMatchObject({ passed: true });
    expect(await verdict(await treeOf(manifest('broken'), code('broken')))).toMatchObject({ passed: false });
  });

  it('does not come from what somebody wrote beside the tree, in whatever way', async ({ task }) => {
    run = await open();
    const tree = await treeOf(code('wrong'));
    await verdict(tree);
    const runner = inFolder('node_modules/runner/run');
    const green = 'exit 0';
    const ways = [
      () => writeFile(runner, green),
      async () => {
        await execute('touch', ['-r', runner, join(base, 'times')]);
        await writeFile(runner, green.padEnd((await stat(runner)).size));
        await execute('touch', ['-r', join(base, 'times'), runner]); // to the nanosecond, as utimes of Node.js is not
      },
      async () => {
        await rm(runner);
        await writeFile(inFolder('node_modules/green'), green);
        await symlink('../green', runner);
      },
      async () => {
        await rm(inFolder('node_modules/runner'), { recursive: true });
        await mkdir(inFolder('elsewhere'));
        await writeFile(inFolder('elsewhere/run'), green);
        await symlink('../elsewhere', inFolder('node_modules/runner'));
      },
      async () => {
        await rm(runner);
        await mkdir(join(runner), { recursive: true });
        await writeFile(join(runner, 'index'), green);
      },
      async () => {
        await link(runner, join(base, 'alias'));
        await writeFile(join(base, 'alias'), green);
      },
      async () => {
        await mkdir(inFolder('node_modules/locked'));
        await writeFile(inFolder('node_modules/locked/a.js'), green);
        await writeFile(runner, green);
        await chmod(inFolder('node_modules/locked'), 0o500);
      },
    ];
    tried(task, { ways: ways.length });
    for (const write of ways) {
      await run.restore(tree);
      await run.ready(tree, signal);
      await write();
      expect(await verdict(tree)).toMatchObject({ passed: false });
    }
    expect(await readdir(inFolder('node_modules'))).toEqual(['.cache', 'runner']);
    expect(await setupsRun()).toBe(1);
  });

  it('is made with a setup of its own for a tree that changes what setup reads', async () => {
    run = await open();
    const before = await treeOf(code('right'));
    const after = await treeOf(manifest('new'), code('new'));
    expect(await verdict(after)).toMatchObject({ passed: true });
    expect(await verdict(before)).toMatchObject({ passed: true });
    expect(await verdict(after)).toMatchObject({ passed: true });
    expect(await setupsRun()).toBe(2);
  });

  it('is made beside no lockfile of setup, which is no part of the work', async () => {
    await treeOf(
      { path: 'sub/package.json', content: '{}' },
      { path: 'sub/package-lock.json', content: 'committed\n' },
    );
    const before = await run.snapshot();
    const installing = shell(SETUP + LOCKING);
    const locking: GitWorkspaceOptions['setup'] = { run: ({ dir }) => installing.run({ dir, signal }) };
    run = await open({ setup: locking });
    const { files } = await run.compare(before, await run.snapshot(), 0);
    expect(files.map(({ path }) => path)).toEqual(['generated.js']);
    expect(await run.read('sub/package-lock.json')).toBe('committed\n');
    expect(await run.hasChanges()).toBe(false);
    expect(await verdict(await treeOf(code('right')))).toMatchObject({ passed: true });
    expect(await run.list()).not.toContain('package-lock.json');
    expect(await verdict(await treeOf(manifest('new'), code('new')))).toMatchObject({ passed: true });
    expect(await run.list()).not.toContain('package-lock.json');
  });

  it('is made beside what a person put there before setup ran, without its lockfile', async () => {
    await writeFile(inFolder('mine.txt'), 'mine\n');
    const installing = shell(SETUP + LOCKING);
    run = await open({ setup: { run: ({ dir }) => installing.run({ dir, signal }) } });
    expect(await run.hasChanges()).toBe(true);
    expect(await run.list()).toContain('mine.txt');
    expect(await run.list()).not.toContain('package-lock.json');
  });

  it('is red, with what setup said, where the work makes setup fail', async () => {
    run = await open();
    const tree = await treeOf(manifest('nothing there is'));
    expect(await verdict(tree)).toMatchObject({ passed: false, command: expect.stringContaining('sh -c') });
    await run.commit({ tree, message: 'Broken', stepKey: 'one' });
    await expect(verdict(tree)).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
  });

  it('is made in a folder without anything beside the tree where no setup is configured', async () => {
    run = (await new GitWorkspace({ dir: base }).open('r')) as GitRunWorkspace;
    const tree = await treeOf(code('right'));
    await mkdir(inFolder('sub/node_modules'), { recursive: true });
    await writeFile(inFolder('sub/node_modules/a.js'), '');
    await run.ready(tree, signal);
    expect((await readdir(run.dir)).sort()).toEqual(['.git', '.gitignore', 'code.js', 'package.json']);
  });

  it('is made with further inputs of setup, and with caches that checks may keep', async () => {
    run = await open({ setupInputs: ['schema/**'], caches: ['node_modules/.cache'] });
    const before = await treeOf(code('right'));
    await verdict(before);
    await verdict(before);
    expect(await readFile(inFolder('node_modules/.cache/runs'), 'utf8')).toBe('xx');
    const count = await setupsRun();
    await verdict(await treeOf({ path: 'schema/deep/a.sql', content: 'select 1;\n' }));
    expect([count, await setupsRun()]).toEqual([1, 2]);
  });

  it('leaves alone what setup has linked from a store of the machine', async () => {
    const store = join(base, 'store');
    await writeFile(store, 'exit 0');
    const linking: GitWorkspaceOptions['setup'] = {
      run: async (request) => {
        await mkdir(join(request.dir, 'node_modules/runner'), { recursive: true });
        await link(store, join(request.dir, 'node_modules/runner/run'));
        return new CommandChecks({ argv: ['true'] }).run(request);
      },
    };
    run = await open({ setup: linking, caches: ['node_modules/.cache'] });
    const tree = await treeOf(code('right'));
    const { nlink } = await stat(inFolder('node_modules/runner/run'));
    await run.restore(tree);
    await run.ready(tree, signal);
    await writeFile(inFolder('node_modules/runner/run'), 'exit 1');
    expect([nlink, await readFile(store, 'utf8')]).toEqual([2, 'exit 0']);
  });

  it('is made with another setup when the copy of what it left was touched', async () => {
    run = await open();
    const tree = await treeOf(code('wrong'));
    await verdict(tree);
    const kept = join(base, '.devs/git/r.git/devs-folders/r.0/setup');
    const [key = ''] = (await readdir(kept)).filter((name) => name.length === 64);
    await writeFile(join(kept, key, 'files/node_modules/runner/run'), 'exit 0');
    expect(await verdict(tree)).toMatchObject({ passed: false });
    expect(await setupsRun()).toBe(2);
  });

  it('says what it says in a fresh clone after setup, whatever was tried before', {
    timeout: 120_000,
  }, async ({ task }) => {
    let ways = 0;
    run = await open();
    const text = fc.constantFrom('right', 'wrong', 'broken');
    const turn = fc.record({ code: text, needs: text, pollutes: fc.boolean() });
    const turns = fc.array(turn, { minLength: 2, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(turns, async (taken) => {
        for (const { code: content, needs, pollutes } of taken) {
          const tree = await treeOf(manifest(needs), code(content));
          ways += 1;
          tried(task, { ways });
          if (pollutes) await writeFile(inFolder('node_modules/runner/run'), 'exit 0');
          const { passed } = await verdict(tree);
          expect(passed).toBe(await freshVerdict(tree));
        }
      }),
      { numRuns: howMany('DEVS_FRESH_CLONES', 1) },
    );
  });
});

/** A real clone of one commit of the tree, its setup, and its check. */
async function freshVerdict(tree: string): Promise<boolean> {
  const gitDir = join(base, '.devs/git/r.git');
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@localhost'];
  const args = [...identity, '--git-dir', gitDir, 'commit-tree', tree, '-m', 'Fresh'];
  const commit = (await execute('git', args)).stdout.trim();
  await execute('git', ['--git-dir', gitDir, 'update-ref', 'refs/heads/fresh', commit]);
  const clone = await mkdtemp(join(base, 'clone-'));
  await execute('git', ['clone', '-q', '--branch', 'fresh', gitDir, clone]);
  await shell(SETUP).run({ dir: clone, signal });
  const { passed } = await check.run({ dir: clone, signal });
  await rm(clone, { recursive: true });
  return passed;
}
