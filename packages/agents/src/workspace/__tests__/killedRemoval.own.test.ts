import { cpSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, vi } from 'vitest';
import { test } from '../../../../core/test/support/fixtures.ts';
import { tried } from '../../../../core/test/support/tried.ts';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

/** Where the process dies: at which removal or renaming, counted from 1, and whether in it or before it. */
const death = vi.hoisted(() => ({ at: 0, within: false, steps: 0 }));

vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>();
  const dying =
    <Args extends readonly unknown[]>(
      work: (...args: Args) => Promise<void>,
      within: (...args: Args) => Promise<void>,
    ) =>
    async (...args: Args): Promise<void> => {
      death.steps += 1;
      if (death.at === 0 || death.steps < death.at) return work(...args);
      if (death.steps === death.at && death.within) await within(...args);
      throw new Error('The process is gone.');
    };
  const half = (path: string): Promise<void> => removeHalf(path, real);
  const { rm, rename } = real as { rm: typeof half; rename: (from: string, to: string) => Promise<void> };
  return { ...real, rm: dying(rm, half), rename: dying(rename, rename) };
});

/** Of a folder every second entry, deep ones first, as a removal that is cut off leaves it. */
async function removeHalf(path: string, { rm }: typeof import('node:fs/promises')): Promise<void> {
  const { readdirSync: list } = await import('node:fs');
  const found = existsSync(path) ? (list(path, { recursive: true }) as string[]).toSorted() : [];
  // The list goes through links, and a removal does not.
  const own = found.filter((name) => realpathSync(dirname(join(path, name))).startsWith(realpathSync(path)));
  for (const name of own.filter((_, index) => index % 2 === 0)) {
    await rm(join(path, name), { recursive: true, force: true });
  }
}

beforeEach(() => {
  Object.assign(death, { at: 0, within: false, steps: 0 });
});

/** A run whose work was merged, and a copy of all of it as it was before its removal. */
async function aMergedRun(dir: string) {
  const [root, template] = [join(dir, 'user'), join(dir, 'template')];
  mkdirSync(root);
  const user = UserCheckout.create(root);
  user.change(() => {
    user.write('a.txt', 'a\n');
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'First');
  });
  const run = (await new GitWorkspace({ dir: root, repository: root }).open('run-1')) as GitRunWorkspace;
  await run.apply([
    { path: 'b.txt', content: 'b\n' },
    { path: 'lib/c.txt', content: 'c\n' },
  ]);
  await run.commit({ tree: await run.snapshot(), message: 'Add b', stepKey: 'b' });
  await run.deliver();
  user.git('merge', '-q', '--ff-only', 'devs/run-1');
  cpSync(root, template, { recursive: true, verbatimSymlinks: true });
  return (): { readonly user: UserCheckout; readonly workspace: GitWorkspace } => {
    rmSync(root, { recursive: true, force: true });
    cpSync(template, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    return { user: UserCheckout.at(root), workspace: new GitWorkspace({ dir: root, repository: root }) };
  };
}

describe('a process that dies while it removes what was kept for a run', () => {
  test('leaves what the next removal ends: nothing of the run, and the user’s checkout as it was', async ({
    dbPath,
    task,
  }) => {
    const again = await aMergedRun(dirname(dbPath));
    let deaths = 0;
    for (const within of [false, true]) {
      for (let at = 1; ; at += 1) {
        const { user, workspace } = again();
        Object.assign(death, { at, within, steps: 0 });
        const survived = await workspace.remove('run-1', { force: false }).then(
          () => true,
          (error: Error) => expect(error.message).toBe('The process is gone.'),
        );
        Object.assign(death, { at: 0 });
        if (survived === true) break;
        deaths += 1;
        await workspace.remove('run-1', { force: false });
        expect(readdirSync(join(user.root, '.devs-work')).filter((name) => name !== '.gitignore')).toEqual(
          [],
        );
        expect(readdirSync(join(user.root, '.devs', 'git'))).toEqual([]);
        expect(existsSync(join(user.root, '.git/refs/heads/devs/run-1'))).toBe(false);
        user.assertUntouched();
      }
    }
    tried(task, { ways: deaths });
    expect(deaths).toBeGreaterThanOrEqual(6);
  });
});
