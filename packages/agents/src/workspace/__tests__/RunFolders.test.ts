import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, readlink, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { RunWorkspace, Workspace } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitWorkspace } from '../GitWorkspace.ts';

type Driver = NonNullable<NonNullable<Parameters<Workspace['open']>[1]>['driver']>;

const execute = promisify(execFile);
const LOST = { code: 'LEASE_LOST' };

let base: string;
let workspaces: GitWorkspace;
let gone: Set<string>;
/** Epoch of the lease in the state file. */
let newest: number;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'devs-folders-'));
  workspaces = new GitWorkspace({ dir: base });
  gone = new Set();
  newest = 0;
});

afterEach(() => rm(base, { recursive: true, force: true }));

const driver = (epoch: number, holder = `boot ${epoch}:1`): Driver => ({
  epoch,
  isCurrent: () => epoch >= newest,
  holder,
  isGone: (other) => gone.has(other),
});
const openAs = (epoch: number, holder?: string): Promise<RunWorkspace> => {
  newest = Math.max(newest, epoch);
  return workspaces.open('r', { driver: driver(epoch, holder) });
};
const link = (): string => join(base, '.devs-work', 'r');
const shown = async (): Promise<string> => basename(await realpath(link()));
const folders = async (): Promise<readonly string[]> =>
  (await readdir(join(base, '.devs-work'))).filter((name) => name !== '.gitignore' && name !== 'r').sort();
const git = async (...args: string[]): Promise<string> =>
  (await execute('git', ['--git-dir', join(base, '.devs/git/r.git'), ...args])).stdout.trim();

async function taskDone(run: RunWorkspace, key: string): Promise<string> {
  await run.apply([{ path: `${key}.txt`, content: `${key}\n` }]);
  return run.commit({ tree: await run.snapshot(), message: key, stepKey: key });
}

describe('the folder of a driver', () => {
  it('is the one of the driver before, when that has left or is gone', async () => {
    const first = await openAs(1);
    await taskDone(first, 'a');
    await workspaces.leave('r', driver(1));
    const second = await openAs(2);
    gone.add('boot 2:1');
    const fourth = await openAs(4);
    expect([second.dir, fourth.dir]).toEqual([first.dir, first.dir]);
    expect(await folders()).toEqual([basename(first.dir)]);
  });

  it('is its own while the one before may still be at work, with what that one left', async () => {
    const first = await openAs(1);
    await taskDone(first, 'a');
    await first.apply([{ path: 'b.txt', content: 'begun\n' }]);
    await first.snapshot();
    await first.apply([{ path: 'c.txt', content: 'not recorded\n' }]);
    const second = await openAs(2);
    expect(second.dir).not.toBe(first.dir);
    expect(await shown()).toBe(basename(second.dir));
    expect(await second.list()).toEqual(['a.txt', 'b.txt']);
    expect((await openAs(2)).dir).toBe(second.dir);
    expect((await workspaces.open('r')).dir).toBe(second.dir);

    gone.add('boot 1:1');
    await openAs(2);
    expect(await folders()).toEqual([basename(second.dir)]);
    expect(await git('show', 'refs/devs/rescued/1:c.txt')).toBe('not recorded');
  });

  it('is another one after the state file was put back to an earlier epoch', async () => {
    const first = await openAs(5);
    await taskDone(first, 'a');
    newest = 0;
    const second = await openAs(5, 'another 1:1');
    newest = 0;
    const third = await openAs(4, 'another 2:1');
    expect(new Set([first.dir, second.dir, third.dir]).size).toBe(3);
    expect(await third.list()).toEqual(['a.txt']);
  });

  it('is filled again where a kill cut that short, and where somebody removed it', async () => {
    await taskDone(await openAs(1), 'a');
    const second = await openAs(2);
    await rm(join(base, '.devs/git/r.git/devs-folders', basename(second.dir)), { recursive: true });
    await rm(join(second.dir, 'a.txt'));
    expect(await (await openAs(2)).list()).toEqual(['a.txt']);
    await rm(second.dir, { recursive: true });
    expect(await (await openAs(2)).list()).toEqual(['a.txt']);
  });

  it('is found where an earlier release had it, with what is known of it', async () => {
    const run = await workspaces.open('r');
    await taskDone(run, 'a');
    await rm(link());
    await rename(run.dir, link());
    const kept = join(base, '.devs/git/r.git/devs-folders');
    await cp(join(kept, basename(run.dir), 'left'), join(base, '.devs/git/r.git/devs-left'));
    await rm(kept, { recursive: true });
    await writeFile(join(link(), 'a.txt'), 'person\n');
    const again = await openAs(7);
    expect(await readlink(link())).toBe(basename(again.dir));
    expect(await readFile(join(link(), 'a.txt'), 'utf8')).toBe('person\n');
    expect(await again.restore(await git('rev-parse', 'devs/r^{tree}'))).toMatchObject({ files: 1 });
  });
});

describe('a driver that was replaced', () => {
  it('opens nothing, moves no ref, and leaves the folder of the other alone', async () => {
    const first = await openAs(1);
    const tip = await taskDone(first, 'a');
    const second = await openAs(2);
    const tree = await first.snapshot();
    await expect(openAs(1)).rejects.toMatchObject(LOST);
    await expect(first.commit({ tree, message: 'b', stepKey: 'b' })).rejects.toMatchObject(LOST);
    const adoption = { author: { name: 'Ada', email: 'a@localhost' }, message: 'm', principal: 'human:ada' };
    await writeFile(join(first.dir, 'x.txt'), 'x\n');
    await expect(first.adopt?.(adoption)).rejects.toMatchObject(LOST);
    await workspaces.leave('r', driver(1));
    expect(await git('rev-parse', 'devs/r')).toBe(tip);
    expect(await second.list()).toEqual(['a.txt']);
    gone.add('boot 1:1');
    expect((await openAs(3)).dir).not.toBe(second.dir);
  });

  it('is one of several that claim at once', async () => {
    await openAs(1);
    const epochs = [2, 3, 4, 5];
    await Promise.allSettled(epochs.map((epoch) => openAs(epoch)));
    const last = await openAs(5);
    expect(await shown()).toBe(basename(last.dir));
    for (const epoch of [2, 3, 4]) await expect(openAs(epoch)).rejects.toMatchObject(LOST);
  });
});
