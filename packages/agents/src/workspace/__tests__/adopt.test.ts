import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { howMany } from '../../../../core/test/support/howMany.ts';
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
const leftovers = async (): Promise<void> => {
  await run.apply([{ path: 'b.js', content: 'half done\n' }]);
  await run.snapshot();
};
const pathsOf = async (from: string, to: string): Promise<readonly string[]> =>
  (await run.compare(from, to, 0)).files.map(({ path }) => path).toSorted();
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

  it('leaves what agents had left uncommitted in the folder, and out of the branch', async () => {
    await leftovers();
    await write('a.js', 'person\n');
    expect(await adopt()).toMatchObject({ files: 1, tree: await run.snapshot() });
    expect(await git('log', '--format=%an %s')).toBe('Ada Fix a\ndevs Add a\n');
    expect(await git('show', '--name-only', '--format=', 'HEAD')).toBe('a.js\n');
    expect(await git('ls-tree', '--name-only', 'HEAD')).toBe('a.js\n');
    expect(await git('status', '--porcelain')).toBe('?? b.js\n');
    expect(await run.read('b.js')).toBe('half done\n');
  });

  it('knows the folder and the branch as adopted, and neither once an agent went on', async () => {
    await leftovers();
    await write('a.js', 'person\n');
    await adopt();
    expect(await run.isAdopted(await run.snapshot())).toBe(true);
    expect(await run.isAdopted(await run.integrated())).toBe(true);
    await run.apply([{ path: 'b.js', content: 'more\n' }]);
    expect(await run.isAdopted(await run.snapshot())).toBe(false);
  });

  it('does not believe a message about what the folder was', async () => {
    await leftovers();
    const tree = await run.snapshot();
    await write('a.js', 'person\n');
    await adopt(`Fix a\n\nDevs-Found: ${tree}`);
    expect(await run.isAdopted(tree)).toBe(false);
  });

  it('removes what a person removed, of the branch as of an agent', async () => {
    await leftovers();
    await rm(join(run.dir, 'b.js'));
    expect(await adopt('Not b')).toMatchObject({ files: 1 });
    await rm(join(run.dir, 'a.js'));
    await adopt('Nor a');
    expect(await git('log', '--format=%s', '--name-only')).toBe('Nor a\n\na.js\nNot b\nAdd a\n\na.js\n');
    expect(await git('ls-tree', 'HEAD')).toBe('');
  });

  it('commits the paths a person touched and no others, whatever lies in the folder', async () => {
    const paths = fc.constantFrom('a.js', 'b.js', 'c/d.js', 'c/e.js', 'f');
    const edit = fc.record({ path: paths, content: fc.constantFrom('1\n', '2\n', null) });
    const edits = fc.uniqueArray(edit, { selector: ({ path }) => path, maxLength: 4 });
    const change = async (all: readonly { path: string; content: string | null }[]): Promise<void> => {
      for (const { path, content } of all) {
        await mkdir(join(run.dir, path, '..'), { recursive: true });
        await (content === null ? rm(join(run.dir, path), { force: true }) : write(path, content));
      }
    };
    let turn = 0;
    await fc.assert(
      fc.asyncProperty(edits, edits, async (agent, person) => {
        turn += 1;
        const tip = await run.integrated();
        await change(agent);
        const left = await run.snapshot();
        await change(person);
        const adopted = await adopt(`Turn ${turn}`);
        const found = await run.snapshot();
        const touched = await pathsOf(left, found);
        expect(await pathsOf(tip, await run.integrated())).toEqual(
          (await pathsOf(tip, found)).filter((path) => touched.includes(path)),
        );
        expect(adopted?.files ?? 0).toBe(touched.length);
        if (adopted !== null) expect(await run.isAdopted(found)).toBe(true);
      }),
      { numRuns: howMany('DEVS_ADOPTIONS', 3) },
    );
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
