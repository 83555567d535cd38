import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FileEdit, RunWorkspace } from '@devs/core';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tried } from '../../../../core/test/support/tried.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

const execute = promisify(execFile);

let base: string;
let run: RunWorkspace;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'devs-unheld-'));
  run = await new GitWorkspace({ dir: base }).open('run-1');
});

afterEach(() => rm(base, { recursive: true, force: true }));

const file = (path: string, content: string | null = 'x\n'): FileEdit => ({ path, content });
const REFUSED = { code: 'PATH_REFUSED' };

const held = async (): Promise<readonly string[]> => {
  const tree = await run.snapshot();
  const args = ['ls-tree', '-r', '-z', '--name-only', tree];
  const { stdout } = await execute('git', args, { cwd: run.dir });
  return stdout.split('\0').filter(Boolean);
};

describe('apply', () => {
  it.each([
    ['a dependency', [file('node_modules/runner/run.js', 'process.exit(0)\n')]],
    ['a dependency of a package', [file('packages/a/node_modules/x/index.js')]],
    ['a dependency on a file system that folds case', [file('Node_Modules/x/index.js')]],
    ['the removal of a dependency', [file('node_modules/runner/run.js', null)]],
    [
      'a dependency that its own ignore file asks for',
      [file('.gitignore', '!node_modules\n'), file('node_modules/a.js')],
    ],
    ['what its own ignore file hides', [file('.gitignore', 'dist/\n'), file('dist/app.js')]],
    [
      'what an ignore file of its folder hides',
      [file('src/.gitignore', '*.gen.js\n'), file('src/deep/a.gen.js')],
    ],
    ['an ignore file that hides itself', [file('.gitignore', '*\n')]],
  ])('refuses %s, and writes nothing of the proposal', async (_what, edits) => {
    await expect(run.apply([file('good.js'), ...edits])).rejects.toMatchObject(REFUSED);
    expect(await readdir(run.dir)).toEqual(['.git']);
  });

  it('goes by the ignore files that will lie there, not by those that do', async () => {
    await run.apply([file('.gitignore', 'dist/\n')]);
    await expect(run.apply([file('dist/app.js')])).rejects.toMatchObject(REFUSED);
    await run.apply([file('.gitignore', null), file('dist/app.js')]);
    expect(await held()).toEqual(['dist/app.js']);
  });

  it('takes a file of the branch that is ignored by now: it stays known', async () => {
    await run.apply([file('dist/app.js')]);
    await run.commit({ tree: await run.snapshot(), message: 'One', stepKey: 'one' });
    await run.apply([file('.gitignore', 'dist/\n'), file('dist/app.js', 'next\n')]);
    expect(await held()).toEqual(['.gitignore', 'dist/app.js']);
    await expect(run.apply([file('dist/other.js')])).rejects.toMatchObject(REFUSED);
  });

  it('refuses what lies in a repository inside the folder', async () => {
    await mkdir(join(run.dir, 'sub'));
    await execute('git', ['init', '-q'], { cwd: join(run.dir, 'sub') });
    await expect(run.apply([file('sub/deep/a.js')])).rejects.toMatchObject(REFUSED);
  });

  it('takes names that look like patterns for what they are', async () => {
    await run.apply([file('.gitignore', 'a.js\n'), file('[a].js'), file('*.js')]);
    expect(await held()).toEqual(['*.js', '.gitignore', '[a].js']);
  });

  it('holds what it takes, whatever the ignore rules', async ({ task }) => {
    let ways = 0;
    const name = fc.constantFrom('a', 'b', 'dist', 'node_modules', 'a.js', 'b.log');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `${parts.join('/')}/f.js`);
    const rule = fc.constantFrom(
      'dist',
      '/a',
      'b/',
      '*.log',
      '!b.log',
      'a/**/b',
      '!dist/a',
      '*.js',
      '!node_modules',
    );
    const rules = fc.array(rule, { maxLength: 3 }).map((lines) => `${lines.join('\n')}\n`);
    const where = fc.constantFrom('.gitignore', 'a/.gitignore', 'a/dist/.gitignore');
    const proposal = fc.tuple(fc.uniqueArray(path, { maxLength: 4 }), where, rules);
    await fc.assert(
      fc.asyncProperty(proposal, async ([paths, ignore, text]) => {
        const edits = [file(ignore, text), ...paths.map((each) => file(each))];
        ways += 1;
        tried(task, { ways });
        const taken = await run.apply(edits).then(
          () => true,
          () => false,
        );
        if (taken) expect(await held()).toEqual(expect.arrayContaining(edits.map(({ path: at }) => at)));
        await rm(run.dir, { recursive: true });
        run = await new GitWorkspace({ dir: base }).open('run-1');
      }),
      { numRuns: 12 },
    );
  });
});
