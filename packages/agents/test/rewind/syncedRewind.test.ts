import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Orchestrator, Run } from '@devs/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UserCheckout } from '../../../core/test/support/UserCheckout.ts';
import { ADA, git, openProject, start, statuses, THREE } from './rewoundRun.ts';

let root: string;
let dir: string;
let user: UserCheckout;
let devs: Orchestrator;
let run: Run;

/** A run that has ended, driven once: each test has a copy, in its place. */
const ENDED = 'ended';
const ALL = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true } as const;

const open = (): Promise<Orchestrator> => openProject({ dir, shape: THREE, repository: dir });

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'devs-synced-'));
  dir = join(root, 'project');
  mkdirSync(dir);
  user = UserCheckout.create(dir);
  commitMine('mine.txt');
  devs = await open();
  expect((await (await start(devs)).resume()).status).toBe('completed');
  devs.close();
  user.assertUntouched();
  renameSync(dir, join(root, ENDED));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

beforeEach(async () => {
  cpSync(join(root, ENDED), dir, ALL);
  user = UserCheckout.at(dir);
  devs = await open();
  run = await devs.run('r');
});

afterEach(() => {
  devs.close();
  user.assertUntouched();
  rmSync(dir, { recursive: true, force: true });
});

function commitMine(name: string): void {
  user.write(name, `${name}\n`);
  user.git('add', name);
  user.git('commit', '-q', '-m', name);
}

const files = (): readonly string[] =>
  readdirSync(join(dir, '.devs-work', 'r'))
    .filter((name) => name.endsWith('.txt'))
    .sort();

describe('a run that is set back after it was carried over to commits of the user', () => {
  it('loses what depends on the task, keeps the rest, and is driven to its end again', async () => {
    commitMine('second.txt');
    await run.sync({ by: ADA });
    commitMine('third.txt');
    await run.sync({ by: ADA });

    const setBack = { a: 'completed', b: 'pending', c: 'completed' };
    await run.rewind('T1', { by: ADA });
    expect(await statuses(run)).toEqual(setBack);
    expect(files()).toEqual(['a.txt', 'c.txt', 'mine.txt', 'second.txt', 'third.txt']);
    expect((await run.resume()).status).toBe('completed');
    expect(files()).toContain('b.txt');

    commitMine('fourth.txt');
    await run.sync({ by: ADA });
    await run.rewind('T1', { by: ADA });
    expect(await statuses(run)).toEqual(setBack);
    expect(files()).toEqual(['a.txt', 'c.txt', 'fourth.txt', 'mine.txt', 'second.txt', 'third.txt']);
  });

  it("is refused where the work is part of the user's own commits by now", async () => {
    user.git('merge', '-q', '--no-ff', '-m', 'Take it', 'devs/r');
    await run.sync({ by: ADA });
    const before = git(dir, 'for-each-ref');
    const refused = { code: 'REWIND_CONFLICT', message: expect.stringContaining('your own commits') };
    await expect(run.previewRewind('T1')).rejects.toMatchObject(refused);
    await expect(run.rewind('T1', { by: ADA })).rejects.toMatchObject(refused);
    expect(git(dir, 'for-each-ref')).toBe(before);
    expect(await statuses(run)).toEqual({ a: 'completed', b: 'completed', c: 'completed' });
  });

  it('is set back where the work of another task than those undone is part of them', async () => {
    user.git('cherry-pick', git(dir, 'rev-list', '-1', '--grep=^a$', 'devs/r', '--'));
    await run.sync({ by: ADA });
    await run.rewind('T1', { by: ADA });
    expect(files()).toEqual(['a.txt', 'c.txt', 'mine.txt']);
  });
});
