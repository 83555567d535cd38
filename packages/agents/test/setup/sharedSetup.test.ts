import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, readlink, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Activity } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { programFile } from '../../../core/test/support/programFile.ts';
import { CommandChecks } from '../../src/checks/CommandChecks.ts';
import type { GitRunWorkspace } from '../../src/workspace/GitRunWorkspace.ts';
import { GitWorkspace, type GitWorkspaceOptions } from '../../src/workspace/GitWorkspace.ts';

const execute = promisify(execFile);
const { signal } = new AbortController();

/** Leaves what the lockfile says, a text with its own path, a link to itself, and says beside the project that it ran. */
const SETUP = `
  set -e
  count=$(tr -cd 0-9 < package-lock.json)
  printf x >> ../../runs
  rm -rf node_modules
  mkdir -p node_modules/.bin
  at=0
  while [ $at -lt $count ]; do printf "module.exports = $at" > node_modules/$at.js; at=$((at + 1)); done
  printf "exec $PWD/node_modules/0.js" > node_modules/.bin/tool
  ln -s $PWD/node_modules/0.js node_modules/link.js
`;
const setupArgv = ['sh', '-c', SETUP];

let dir: string;
let told: Activity[];

const open = async (id: string, options: Partial<GitWorkspaceOptions> = {}): Promise<GitRunWorkspace> => {
  const argv = options.setupArgv ?? setupArgv;
  const setup = new CommandChecks({ argv });
  const workspace = new GitWorkspace({ dir, repository: dir, setup, setupArgv: argv, ...options });
  return (await workspace.open(id, { onActivity: (each) => told.push(each) })) as GitRunWorkspace;
};
const runs = async (): Promise<number> => (await readFile(join(dir, 'runs'), 'utf8').catch(() => '')).length;
const stored = async (): Promise<readonly string[]> => readdir(join(dir, '.devs/setup')).catch(() => []);
const copies = async (): Promise<readonly string[]> => (await stored()).filter((name) => name.length === 64);
const git = (...args: readonly string[]) => execute('git', ['-C', dir, ...args]);

async function commitLock(count: number): Promise<void> {
  await writeFile(join(dir, 'package-lock.json'), JSON.stringify({ count }));
  await git('add', '-A');
  await git('-c', 'user.name=a', '-c', 'user.email=a@localhost', 'commit', '-qm', `Lock ${count}`);
}

const program = new URL('open.child.ts', import.meta.url);

const inProcess = (id: string) =>
  spawn(process.execPath, [programFile(program), dir, id, ...setupArgv], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devs-setup-'));
  told = [];
  await git('init', '-q');
  await writeFile(join(dir, '.gitignore'), 'node_modules/\nruns\ndist/\n.devs*\n');
  await commitLock(3);
});

afterEach(() => rm(dir, { recursive: true, force: true }));

describe('what setup leaves', () => {
  it('is taken by the next run of the same lockfiles, and made anew for others', async () => {
    await open('one');
    const two = await open('two');
    expect(await runs()).toBe(1);
    expect(told).toContainEqual({ kind: 'doing', what: 'setup: as it was for these lockfiles' });
    expect(await readFile(join(two.dir, 'node_modules/2.js'), 'utf8')).toBe('module.exports = 2');
    const own = join(two.dir, 'node_modules/0.js');
    expect(await readFile(join(two.dir, 'node_modules/.bin/tool'), 'utf8')).toBe(`exec ${own}`);
    expect(await readlink(join(two.dir, 'node_modules/link.js'))).toBe(own);
    await two.ready(await two.left(), signal);
    expect(await runs()).toBe(1);

    await commitLock(4);
    await open('three');
    await open('four', { setupArgv: [...setupArgv, 'with another argument'] });
    expect(await runs()).toBe(3);
    expect(await copies()).toHaveLength(3);
  });

  it('is not changed by what a check or an agent writes, nor taken when somebody changed it', async () => {
    const one = await open('one');
    await writeFile(join(one.dir, 'node_modules/0.js'), 'changed');
    const two = await open('two');
    expect(await readFile(join(two.dir, 'node_modules/0.js'), 'utf8')).toBe('module.exports = 0');

    const [key = ''] = await copies();
    await writeFile(join(dir, '.devs/setup', key, 'files/node_modules/0.js'), 'module.exports = 9');
    const three = await open('three');
    expect(await readFile(join(three.dir, 'node_modules/0.js'), 'utf8')).toBe('module.exports = 0');
    expect(await runs()).toBe(2);
    await open('four');
    expect(await runs()).toBe(2);
  });

  it('is not shared where work was in the tree, and only for the very tree where it is more than dependencies', async () => {
    const one = await open('one');
    await one.apply([{ path: 'package-lock.json', content: '{"count":5}' }]);
    await one.ready(await one.snapshot(), signal);
    expect([await runs(), (await copies()).length]).toEqual([2, 1]);
    await commitLock(5);
    await open('two');
    expect([await runs(), (await copies()).length]).toEqual([3, 2]);

    const builds = ['sh', '-c', `${SETUP}\nmkdir dist\n: > dist/a.js`];
    await open('three', { setupArgv: builds });
    await open('four', { setupArgv: builds });
    expect(await runs()).toBe(4);
    await writeFile(join(dir, 'a.js'), '');
    await commitLock(5);
    await open('five', { setupArgv: builds });
    expect(await runs()).toBe(5);
  });

  it('is kept once by two processes at once, and a kill leaves nothing that counts', async () => {
    await commitLock(200);
    const both = ['one', 'two'].map(inProcess);
    expect(await Promise.all(both.map((child) => once(child, 'close')))).toEqual([
      [0, null],
      [0, null],
    ]);
    expect(await stored()).toEqual(await copies());
    expect(await copies()).toHaveLength(1);

    await commitLock(300);
    const killed = inProcess('three');
    while ((await stored()).every((name) => !name.startsWith('.'))) await sleep(1);
    killed.kill('SIGKILL');
    await once(killed, 'close');
    const three = await open('three');
    expect(await readFile(join(three.dir, 'node_modules/299.js'), 'utf8')).toBe('module.exports = 299');
    const four = await open('four');
    expect(await readFile(join(four.dir, 'node_modules/299.js'), 'utf8')).toBe('module.exports = 299');

    const long = new Date(Date.now() - 7_200_000);
    for (const name of await stored()) await utimes(join(dir, '.devs/setup', name), long, long);
    for (const id of ['one', 'two']) await rm(join(dir, `.devs/git/${id}.git`), { recursive: true });
    expect(await new GitWorkspace({ dir }).sweep(new Set(['three', 'four']))).toBeGreaterThan(0);
    expect(await stored()).toEqual(await copies());
    expect(await copies()).toHaveLength(1);
  });
});
