import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../../core/test/support/fixtures.ts';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

const REMOVED = { branch: { name: 'devs/run-1', removed: true } };
const BRANCH = 'refs/heads/devs/run-1';

async function aRun(dir: string) {
  mkdirSync(join(dir, 'user'));
  const user = UserCheckout.create(join(dir, 'user'));
  user.change(() => {
    user.write('a.txt', 'a\n');
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'First');
  });
  const workspace = new GitWorkspace({ dir: user.root, repository: user.root });
  const run = (await workspace.open('run-1')) as GitRunWorkspace;
  await run.apply([{ path: 'b.txt', content: 'b\n' }]);
  await run.commit({ tree: await run.snapshot(), message: 'Add b', stepKey: 'b' });
  const left = (): readonly string[] => [
    ...readdirSync(join(user.root, '.devs-work')).filter((name) => name !== '.gitignore'),
    ...readdirSync(join(user.root, '.devs', 'git')),
  ];
  return { user, workspace, run, left };
}

describe('what was kept for a run', () => {
  test('goes with its branch once that is merged', async ({ dbPath }) => {
    const { user, workspace, run, left } = await aRun(dirname(dbPath));
    await run.deliver();
    user.change(() => user.git('merge', '-q', '--ff-only', 'devs/run-1'));
    expect(await workspace.remove('run-1', { force: false })).toEqual(REMOVED);
    expect(await workspace.remove('run-1', { force: false })).toEqual({ branch: null });
    expect(left()).toEqual([]);
  });

  test('leaves a branch that is not merged, unless told to', async ({ dbPath }) => {
    const { user, workspace, run, left } = await aRun(dirname(dbPath));
    await run.deliver();
    expect(await workspace.remove('run-1', { force: false })).toEqual({
      branch: { name: 'devs/run-1', removed: false },
    });
    expect(user.git('rev-parse', '--verify', BRANCH)).toMatch(/^[0-9a-f]{40}\n$/);
    expect(left()).toEqual([]);
  });

  test('leaves a branch with commits of somebody else also when told to', async ({ dbPath }) => {
    const { user, workspace, run } = await aRun(dirname(dbPath));
    await run.deliver();
    user.change(() => {
      user.git('checkout', '-q', 'devs/run-1');
      user.git('commit', '-q', '--allow-empty', '-m', 'Mine');
      user.git('checkout', '-q', '-');
    });
    const removed = await workspace.remove('run-1', { force: true });
    expect(removed).toEqual({ branch: { name: 'devs/run-1', removed: false } });
  });

  test.for(['commits that are nowhere else', 'changes made by hand'])(
    'stays with %s',
    async (what, { dbPath }) => {
      const { user, workspace, run, left } = await aRun(dirname(dbPath));
      if (what.startsWith('changes')) {
        await run.deliver();
        writeFileSync(join(run.dir, 'mine.txt'), 'mine\n');
      }
      const before = left();
      await expect(workspace.remove('run-1', { force: false })).rejects.toMatchObject({
        code: 'REMOVE_REFUSED',
        context: { reason: what.startsWith('changes') ? 'changed' : 'not_delivered' },
      });
      expect(left()).toEqual(before);
      await workspace.remove('run-1', { force: true });
      expect(left()).toEqual([]);
      expect(existsSync(join(user.root, '.git', BRANCH))).toBe(false);
    },
  );

  test('is swept for runs that are not there any more, later and without loss', async ({ dbPath }) => {
    const { user, workspace, run, left } = await aRun(dirname(dbPath));
    const store = join(user.root, '.devs', 'git', 'run-1.git');
    const age = (): void => utimesSync(store, new Date(0), new Date(0));
    age();
    expect(await workspace.sweep(new Set())).toBe(0); // its commits are nowhere else
    await run.deliver();
    age();
    expect(await workspace.sweep(new Set(['run-1']))).toBe(0);
    const fresh = new Date();
    utimesSync(store, fresh, fresh);
    expect(await workspace.sweep(new Set())).toBe(0); // it may have been made just now
    age();
    expect(await workspace.sweep(new Set())).toBeGreaterThan(1_000);
    expect(left()).toEqual([]);
    expect(user.git('rev-parse', '--verify', BRANCH)).toMatch(/^[0-9a-f]{40}\n$/);

    // Of a sweep that was killed.
    mkdirSync(`${store}.gone/objects`, { recursive: true });
    utimesSync(`${store}.gone`, new Date(0), new Date(0));
    await workspace.sweep(new Set());
    expect(left()).toEqual([]);
  });
});
