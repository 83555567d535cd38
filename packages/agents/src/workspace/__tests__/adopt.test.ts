import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

const execute = promisify(execFile);

let base: string;
let run: GitRunWorkspace;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'devs-adopt-'));
  run = (await new GitWorkspace({ dir: base }).open('run-1')) as GitRunWorkspace;
  await run.apply([{ path: 'a.js', content: 'agent\n' }]);
  await run.commit({ tree: await run.snapshot(), message: 'Add a', stepKey: 'T1' });
});

afterEach(() => rm(base, { recursive: true, force: true }));

const ADA = { name: 'Ada', email: 'ada@example.org' };
const adopt = (message = 'Fix a') => run.adopt({ author: ADA, message, principal: 'human:ada' });
const write = (path: string, content: string): Promise<void> => writeFile(join(run.dir, path), content);
const git = async (...args: string[]): Promise<string> =>
  (await execute('git', args, { cwd: run.dir })).stdout;

describe('adopt', () => {
  it('commits what a person changed in their name', async () => {
    await write('a.js', 'person\n');
    const adopted = await adopt();
    expect(adopted).toMatchObject({ files: 1 });
    expect(await git('log', '--format=%an <%ae> %s')).toBe(
      'Ada <ada@example.org> Fix a\ndevs <devs@localhost> Add a\n',
    );
    expect(await git('show', 'HEAD:a.js')).toBe('person\n');
    expect(await git('status', '--porcelain')).toBe('');
    expect(await run.isAdopted(await run.snapshot())).toBe(true);
  });

  it('signs what agents had left uncommitted as theirs', async () => {
    await run.apply([{ path: 'b.js', content: 'half done\n' }]);
    await run.snapshot();
    await write('a.js', 'person\n');
    await adopt();
    expect(await git('log', '--format=%an %s')).toBe(
      'Ada Fix a\ndevs Work in progress, not verified\ndevs Add a\n',
    );
    expect(await git('show', '--name-only', '--format=', 'HEAD')).toBe('a.js\n');
  });

  it('has nothing to do when nobody changed anything, or it was done before', async () => {
    expect(await adopt()).toBeNull();
    await write('a.js', 'person\n');
    await adopt();
    expect(await adopt()).toBeNull();
    expect(await run.log()).toHaveLength(2);
  });

  it('is completed by the next call after a kill between the commit and its record', async () => {
    const left = join(base, '.devs', 'git', 'run-1.git', 'devs-folders', 'run-1.0', 'left');
    await execute('cp', [left, join(base, 'left')]);
    await write('a.js', 'person\n');
    const first = await adopt();
    await execute('cp', [join(base, 'left'), left]);
    expect(await adopt()).toMatchObject({ commit: first?.commit, files: 1 });
    expect(await run.log()).toHaveLength(2);
  });

  it('is not mistaken for a step, nor an agent for a person', async () => {
    await write('a.js', 'person\n');
    await adopt('Fix a\n\nDevs-Step: T2');
    await run.apply([{ path: 'b.js', content: 'agent\n' }]);
    const tree = await run.snapshot();
    await run.commit({ tree, message: 'Add b\n\nDevs-Adopted: human:ada', stepKey: 'T2' });
    expect(await run.log()).toHaveLength(3);
    expect(await run.isAdopted(tree)).toBe(false);
  });

  it('refuses a name that is none', async () => {
    const author = { name: 'Ada\n', email: 'a' };
    await expect(run.adopt({ author, message: 'x', principal: 'human:a' })).rejects.toThrow(RangeError);
  });
});
