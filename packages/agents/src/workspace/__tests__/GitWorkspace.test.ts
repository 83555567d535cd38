import { execFile } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { RunWorkspace } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GitWorkspace } from '../GitWorkspace.ts';

const execute = promisify(execFile);

let base: string;
let workspaces: GitWorkspace;
let run: RunWorkspace;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'devs-workspace-'));
  workspaces = new GitWorkspace({ dir: base, now: () => new Date('2026-01-02T03:04:05Z') });
  run = await workspaces.open('run-1');
});

afterEach(() => rm(base, { recursive: true, force: true }));

const gitDir = (): string => join(base, '.devs', 'git', 'run-1.git');
const inFolder = (...names: string[]): string => join(run.dir, ...names);
const text = (path: string): Promise<string> => readFile(inFolder(path), 'utf8');
const git = async (...args: string[]): Promise<string> =>
  (await execute('git', args, { cwd: run.dir, env: { PATH: process.env['PATH'], LC_ALL: 'C' } })).stdout;

it('is refused on Windows, with what to use there, and is not called a git that is missing', async () => {
  const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('win32');
  try {
    await expect(run.snapshot()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      remedy: expect.stringContaining('WSL'),
    });
  } finally {
    platform.mockRestore();
  }
});

describe('GitWorkspace.open', () => {
  it('is a repository of its own from the start, whatever lies around it', async () => {
    await execute('git', ['init', '-q'], { cwd: run.dir.replace(/\.devs-work.*$/, '') });
    const { stdout } = await execute('git', ['rev-parse', '--show-toplevel'], { cwd: run.dir });
    expect(stdout.trim()).toBe(await realpath(run.dir));
  });

  it('makes an empty folder beside a git dir that lies outside it', async () => {
    expect(workspaces.dirOf('run-1')).toBe(join(base, '.devs-work', 'run-1'));
    expect(await realpath(workspaces.dirOf('run-1'))).toBe(await realpath(run.dir));
    expect(await readdir(run.dir)).toEqual(['.git']);
    expect((await stat(gitDir())).isDirectory()).toBe(true);
    expect((await stat(run.dir)).mode & 0o777).toBe(0o700);
  });

  it('begins a run without a commit, on a branch of its own', async () => {
    expect(await run.log()).toEqual([]);
    expect(await git('--git-dir', gitDir(), 'for-each-ref')).toBe('');
    expect(await git('--git-dir', gitDir(), 'symbolic-ref', 'HEAD')).toBe('refs/heads/devs/run-1\n');
  });

  it('reopens a run with its history, and may be opened by several at once', async () => {
    await run.apply([{ path: 'a.txt', content: 'a' }]);
    await run.commit({ tree: await run.snapshot(), message: 'One', stepKey: 'one' });
    const again = await Promise.all([1, 2, 3].map(() => workspaces.open('run-1')));
    for (const each of again) expect(await each.log()).toHaveLength(1);
  });

  it('completes a git dir that a kill left half made', async () => {
    await rm(gitDir(), { recursive: true });
    await mkdir(join(gitDir(), 'objects'), { recursive: true });
    const again = await workspaces.open('run-1');
    expect(await again.log()).toEqual([]);
    const sha = await again.commit({ tree: await again.snapshot(), message: 'One', stepKey: 'one' });
    expect(await again.log()).toEqual([{ sha, subject: 'One' }]);
  });

  it.each(['', '.', '..', 'a/b', 'A', 'a_b', '-a', 'a.lock', 'é', 'a\0', 'a'.repeat(101)])(
    'refuses %j as a run id',
    (threadId) => {
      expect(() => workspaces.dirOf(threadId)).toThrow(RangeError);
    },
  );

  it('refuses a folder that was replaced by a link', async () => {
    await rm(run.dir, { recursive: true });
    await symlink(tmpdir(), run.dir);
    await expect(workspaces.open('run-1')).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
  });
});

describe('a git that does not work', () => {
  it('is named when it is not installed', async () => {
    await withPath(join(base, 'empty'), async () => {
      const listing = run.list();
      await expect(listing).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
      await expect(listing).rejects.toThrow('git could not be started');
    });
  });

  it('is stopped at the time limit', async () => {
    const hurried = await new GitWorkspace({ dir: base, timeoutMs: 50 }).open('run-1');
    const bin = await installGit('#!/bin/sh\nexec sleep 600\n');
    await withPath(`${bin}:${process.env['PATH']}`, async () => {
      await expect(hurried.list()).rejects.toThrow('time limit');
    });
  });

  it('shows the end of what git reported', async () => {
    await expect(run.restore('1'.repeat(40))).rejects.toThrow(/^git read-tree failed \(exit 128\): fatal: /);
  });
});

describe('apply', () => {
  it('writes, replaces and removes whole files; applying twice changes nothing', async () => {
    const edits = [
      { path: 'src/deep/a.js', content: 'export const a = 1;\n' },
      { path: 'gone.txt', content: null },
    ];
    await run.apply([{ path: 'gone.txt', content: 'x' }]);
    await run.apply(edits);
    await run.apply(edits);
    expect(await run.list()).toEqual(['src/deep/a.js']);
    expect(await run.read('src/deep/a.js')).toBe('export const a = 1;\n');
  });

  it('keeps the mode of a file that it replaces', async () => {
    await run.apply([{ path: 'run.sh', content: '#!/bin/sh\n' }]);
    await chmod(inFolder('run.sh'), 0o755);
    await run.apply([{ path: 'run.sh', content: '#!/bin/sh\necho hi\n' }]);
    expect((await stat(inFolder('run.sh'))).mode & 0o777).toBe(0o755);
  });

  it.each([
    ['a bad path', [{ path: '../x', content: 'x' }]],
    [
      'a path given twice',
      [
        { path: './b.txt', content: 'x' },
        { path: 'b.txt', content: 'y' },
      ],
    ],
    [
      'a file that is also a folder',
      [
        { path: 'b', content: 'x' },
        { path: 'b/c', content: 'y' },
      ],
    ],
  ])('writes nothing at all when one edit has %s', async (_what, bad) => {
    const edits = [{ path: 'good.txt', content: 'x' }, ...bad];
    await expect(run.apply(edits)).rejects.toMatchObject({ code: 'PATH_REFUSED' });
    expect(await readdir(run.dir)).toEqual(['.git']);
  });

  it('does not read through a link', async () => {
    await symlink('/etc/hostname', inFolder('host'));
    await expect(run.read('host')).rejects.toMatchObject({ code: 'PATH_REFUSED' });
  });

  it('names a file that is not there', async () => {
    await expect(run.read('nope.js')).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
  });
});

describe('snapshot and restore', () => {
  it('gives equal folders equal trees, and other folders other trees', async () => {
    const empty = await run.snapshot();
    await run.apply([{ path: 'a.txt', content: 'a' }]);
    const one = await run.snapshot();
    expect(one).not.toBe(empty);
    expect(await run.snapshot()).toBe(one);
    await run.apply([{ path: 'a.txt', content: null }]);
    expect(await run.snapshot()).toBe(empty);
  });

  it('makes the folder equal to the tree: changed, added, removed, file for folder and folder for file', async () => {
    await run.apply([
      { path: 'keep.txt', content: 'keep' },
      { path: 'change.txt', content: 'before' },
      { path: 'remove.txt', content: 'remove' },
      { path: 'file', content: 'a file' },
      { path: 'folder/inside.txt', content: 'inside' },
    ]);
    await symlink('keep.txt', inFolder('pointer'));
    await chmod(inFolder('keep.txt'), 0o755);
    const tree = await run.snapshot();

    await run.apply([
      { path: 'change.txt', content: 'after!' },
      { path: 'remove.txt', content: null },
      { path: 'new/untracked.txt', content: 'new' },
    ]);
    await writeFile(inFolder('.gitignore'), '*\n');
    await rm(inFolder('file'));
    await mkdir(inFolder('file', 'sub'), { recursive: true });
    await writeFile(inFolder('file', 'sub', 'x'), 'x');
    await rm(inFolder('folder'), { recursive: true });
    await writeFile(inFolder('folder'), 'now a file');
    await rm(inFolder('pointer'));
    await run.restore(tree);

    expect(await run.snapshot()).toBe(tree);
    expect((await readdir(run.dir)).sort()).toEqual([
      '.git',
      'change.txt',
      'file',
      'folder',
      'keep.txt',
      'pointer',
      'remove.txt',
    ]);
    expect(await text('change.txt')).toBe('before');
    expect((await stat(inFolder('keep.txt'))).mode & 0o111).not.toBe(0);
  });

  it('writes nothing through a link that took the place of a folder', async () => {
    const outside = join(base, 'outside');
    await mkdir(outside);
    await run.apply([{ path: 'src/a.js', content: 'a' }]);
    const tree = await run.snapshot();
    await rm(inFolder('src'), { recursive: true });
    await symlink(outside, inFolder('src'));
    await run.restore(tree);
    expect(await readdir(outside)).toEqual([]);
    expect(await text('src/a.js')).toBe('a');
  });

  it('leaves ignored files and dependencies out, whatever the workspace asks for', async () => {
    await run.apply([
      { path: '.gitignore', content: 'out/\n!node_modules\n' },
      { path: 'a.js', content: 'x' },
    ]);
    for (const path of ['out/big.bin', 'node_modules/dep/index.js', 'packages/a/node_modules/dep/index.js']) {
      await mkdir(dirname(inFolder(path)), { recursive: true });
      await writeFile(inFolder(path), 'x');
    }
    expect(await run.list()).toEqual(['.gitignore', 'a.js']);
    const tree = await run.snapshot();
    expect(
      (await git('--git-dir', gitDir(), 'ls-tree', '-r', '--name-only', tree)).trim().split('\n'),
    ).toEqual(['.gitignore', 'a.js']);
    await run.restore(tree);
    expect(await text('node_modules/dep/index.js')).toBe('x');
    expect(await text('out/big.bin')).toBe('x');
  });

  it('brings every byte back, whatever attributes the workspace sets', async () => {
    const bytes = Buffer.from([0x24, 0x49, 0x64, 0x24, 13, 10, 0xff, 0xfe, 10, 13, 10]);
    await writeFile(inFolder('data.bin'), bytes);
    await writeFile(inFolder('text.txt'), 'one\r\ntwo\n$Id$\n');
    await run.apply([
      { path: '.gitattributes', content: '* text=auto eol=crlf ident working-tree-encoding=UTF-16\n' },
    ]);
    const tree = await run.snapshot();
    await rm(inFolder('data.bin'));
    await rm(inFolder('text.txt'));
    await run.restore(tree);
    expect(await readFile(inFolder('data.bin'))).toEqual(bytes);
    expect(await text('text.txt')).toBe('one\r\ntwo\n$Id$\n');
  });

  it('refuses a nested repository by name, and restoring removes it', async () => {
    const tree = await run.snapshot();
    await mkdir(inFolder('sub'));
    await execute('git', ['init', '-q'], { cwd: inFolder('sub') });
    await writeFile(inFolder('sub', 'a.txt'), 'a');
    await expect(run.snapshot()).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
    const identity = ['-c', 'user.name=x', '-c', 'user.email=x@x'];
    await execute('git', ['add', '.'], { cwd: inFolder('sub') });
    await execute('git', [...identity, 'commit', '-qm', 'x'], { cwd: inFolder('sub') });
    await expect(run.snapshot()).rejects.toThrow('another git repository: "sub"');
    await run.restore(tree);
    expect(await readdir(run.dir)).toEqual(['.git']);
  });

  it('refuses what is no tree before it touches the folder', async () => {
    await run.apply([{ path: 'a.txt', content: 'a' }]);
    expect(() => run.restore('HEAD')).toThrow(RangeError);
    await expect(run.restore('1'.repeat(40))).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
    expect(await text('a.txt')).toBe('a');
  });
});

describe('commit', () => {
  const commitFile = async (content: string, stepKey: string, message = 'Add a file'): Promise<string> => {
    await run.apply([{ path: 'a.txt', content }]);
    return run.commit({ tree: await run.snapshot(), message, stepKey });
  };

  it('lists commits oldest first, by an author of its own', async () => {
    const first = await commitFile('1', 'T1/1', 'First\n\nWith a body');
    const second = await commitFile('2', 'T2/1', 'Second');
    expect(await run.log()).toEqual([
      { sha: first, subject: 'First' },
      { sha: second, subject: 'Second' },
    ]);
    expect(await git('rev-list', '--parents', 'HEAD')).toBe(`${second} ${first}\n${first}\n`);
    expect(await git('log', '-1', '--format=%an %cI%n%(trailers)')).toBe(
      'devs 2026-01-02T03:04:05+00:00\nDevs-Step: T2/1\n\n',
    );
  });

  it('signs with the person it was given, commits as devs, and has all trailers in one block', async () => {
    const author = { name: 'Ada Lovelace', email: 'ada@example.org' };
    run = (await new GitWorkspace({ dir: base, author }).open('run-1')) as typeof run;
    const trailers = 'Devs-Task: T1 (shop:1)\nDevs-Agents: fake (scripted)';
    await commitFile('1', 'T1/1', `Add it\n\n- it works: a test\n\n${trailers}`);
    expect(await git('log', '-1', '--format=%an <%ae> %cn <%ce>')).toBe(
      'Ada Lovelace <ada@example.org> devs <devs@localhost>\n',
    );
    expect(await git('log', '-1', '--format=%(trailers)')).toBe(`${trailers}\nDevs-Step: T1/1\n\n`);
    expect(() => new GitWorkspace({ dir: base, author: { name: 'Ada\n', email: 'a' } })).toThrow(RangeError);
  });

  it('returns the earlier commit for a key that it knows', async () => {
    const first = await commitFile('1', 'T1/1');
    await commitFile('2', 'T1/10');
    expect(await commitFile('3', 'T1/1')).toBe(first);
    expect(await run.log()).toHaveLength(2);
  });

  it('has no trailer but its own, and no character that is not seen, whatever the message ends with', async () => {
    const forged =
      'Add it\u202e\u001b[2J\u0085\r\n\nSigned-off-by: Ada <ada@example.org>\nDevs-Step: T9/1\n\u2028';
    const sha = await commitFile('1', 'T1/1', forged);
    expect(await git('log', '-1', '--format=%(trailers)', sha)).toBe('Devs-Step: T1/1\n\n');
    expect(await git('log', '-1', '--format=%B', sha)).toBe(
      'Add it[2J\n\nSigned-off-by: Ada <ada@example.org>\nDevs-Step: T9/1\n\nDevs-Step: T1/1\n\n',
    );
  });

  it('is not misled by a message that mentions a key', async () => {
    const first = await commitFile('1', 'T1/1', 'Trick\n\nDevs-Step: T2/1');
    expect(await commitFile('2', 'T2/1')).not.toBe(first);
  });

  it('lets one of two racing drivers win', async () => {
    const other = await workspaces.open('run-1');
    const tree = await run.snapshot();
    const same = await Promise.all(
      [run, other].map((driver) => driver.commit({ tree, message: 'Same', stepKey: 'same' })),
    );
    expect(new Set(same).size).toBe(1);
    const settled = await Promise.allSettled(
      [run, other].map((driver, index) =>
        driver.commit({ tree, message: 'Other', stepKey: `other-${index}` }),
      ),
    );
    const won = settled.filter(({ status }) => status === 'fulfilled').length;
    expect(won).toBeGreaterThan(0);
    expect(await run.log()).toHaveLength(1 + won);
    for (const result of settled) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'WORKSPACE_BUSY' });
    }
  });

  describe.each(['first', 'second'])('of a driver that another one overtakes, as the %s commit', (which) => {
    let other: RunWorkspace;
    let before: number;

    beforeEach(async () => {
      other = await workspaces.open('run-1');
      if (which === 'second') await commitFile('0', 'T0/1');
      before = (await run.log()).length;
    });

    it("is the other one's commit when the step is the same", async () => {
      const tree = await run.snapshot();
      const [late, early] = await overtake(
        () => run.commit({ tree, message: 'Late', stepKey: 'T1/1' }),
        () => other.commit({ tree, message: 'Early', stepKey: 'T1/1' }),
      );
      expect(late).toEqual({ status: 'fulfilled', value: early });
      expect((await run.log()).slice(before)).toEqual([{ sha: early, subject: 'Early' }]);
      expect(await git('rev-parse', 'HEAD')).toBe(`${early}\n`);
    });

    it('is refused when the step is another one, and can be tried again', async () => {
      const request = { tree: await run.snapshot(), message: 'Late', stepKey: 'T2/1' };
      const [late, early] = await overtake(
        () => run.commit(request),
        () => other.commit({ ...request, message: 'Early', stepKey: 'T1/1' }),
      );
      expect(late).toMatchObject({ status: 'rejected', reason: { code: 'WORKSPACE_BUSY' } });
      expect((await run.log()).slice(before)).toEqual([{ sha: early, subject: 'Early' }]);
      const sha = await run.commit(request);
      expect((await run.log()).slice(before + 1)).toEqual([{ sha, subject: 'Late' }]);
    });
  });

  it.each(['first', 'second'])('goes on after a kill during the %s commit left its locks', async (which) => {
    if (which === 'second') await commitFile('0', 'T0/1');
    const before = (await run.log()).length;
    await mkdir(join(gitDir(), 'refs', 'heads', 'devs'), { recursive: true });
    const locks = [join(gitDir(), 'refs', 'heads', 'devs', 'run-1.lock'), join(gitDir(), 'HEAD.lock')];
    for (const lock of locks) {
      await writeFile(lock, '');
      await utimes(lock, 1, 1);
    }
    await writeFile(join(gitDir(), 'index.lock'), '');
    await commitFile('1', 'T1/1');
    expect(await run.log()).toHaveLength(before + 1);
  });

  it('lets the user look at the folder with git as usual', async () => {
    await commitFile('1', 'T1/1');
    expect(await git('log', '--format=%s')).toBe('Add a file\n');
    expect(await git('status', '--porcelain')).toBe('');
    expect(await git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('devs/run-1\n');
    expect(await run.list()).toEqual(['a.txt']);
    await expect(run.apply([{ path: '.git', content: 'gitdir: /tmp' }])).rejects.toMatchObject({
      code: 'PATH_REFUSED',
    });
  });

  it('lets the user look when a kill came between the commit and the pointer to it', async () => {
    const first = await commitFile('1', 'T1/1');
    await rm(inFolder('.git'));
    await rm(join(gitDir(), 'index'));
    expect(await commitFile('1', 'T1/1')).toBe(first);
    expect(await git('rev-parse', 'HEAD')).toBe(`${first}\n`);
    expect(await git('status', '--porcelain')).toBe('');
  });

  it('replaces a repository that a command put into the folder', async () => {
    await rm(inFolder('.git'), { recursive: true, force: true });
    await execute('git', ['init', '-q'], { cwd: run.dir });
    await commitFile('1', 'T1/1');
    expect((await stat(inFolder('.git'))).isFile()).toBe(true);
    expect(await git('log', '--format=%s')).toBe('Add a file\n');
  });

  it.each(['', 'two\nlines', ' padded', 'é', 'x'.repeat(201)])(
    'refuses %j as a step key',
    async (stepKey) => {
      const tree = await run.snapshot();
      await expect(run.commit({ tree, message: 'm', stepKey })).rejects.toThrow(RangeError);
    },
  );
});

describe('a hostile workspace', () => {
  it('starts no program: hooks, filters, attributes, submodules, monitors, includes', async () => {
    const trap = join(base, 'executed');
    const script = inFolder('evil.sh');
    await run.apply([
      { path: 'evil.sh', content: `#!/bin/sh\ntouch '${trap}'\n` },
      {
        path: '.gitattributes',
        content: '* filter=evil diff=evil merge=evil\n[attr]bad filter=evil\n*.js bad\n',
      },
      {
        path: '.gitmodules',
        content: `[submodule "x"]\n\tpath = x\n\turl = ext::sh ${script}\n\tupdate = !${script}\n`,
      },
      { path: '.gitconfig', content: `[core]\n\tfsmonitor = ${script}\n\tpager = ${script}\n` },
      { path: 'hooks/post-commit', content: `#!/bin/sh\ntouch '${trap}'\n` },
      { path: 'a.js', content: 'a' },
    ]);
    await chmod(script, 0o755);
    await chmod(inFolder('hooks/post-commit'), 0o755);
    await plantRepository(run.dir, script);
    const tree = await run.snapshot();
    await run.commit({ tree, message: 'm', stepKey: 'k' });
    await plantRepository(run.dir, script);
    await run.restore(tree);
    await run.list();
    await run.log();
    await expect(stat(trap)).rejects.toMatchObject({ code: 'ENOENT' });

    // The traps are armed: git as anybody would call it runs into them.
    await plantRepository(run.dir, script);
    await git('add', '--all').catch(() => undefined);
    expect((await stat(trap)).isFile()).toBe(true);
  });

  it('is not reached by the git configuration of the machine', async () => {
    const trap = join(base, 'executed');
    const config = join(base, 'gitconfig');
    await writeFile(config, `[core]\n\tfsmonitor = touch '${trap}'\n\thooksPath = ${base}\n`);
    vi.stubEnv('GIT_CONFIG_GLOBAL', config);
    vi.stubEnv('GIT_DIR', '/nowhere');
    vi.stubEnv('GIT_INDEX_FILE', '/nowhere');
    try {
      await run.commit({ tree: await run.snapshot(), message: 'm', stepKey: 'k' });
    } finally {
      vi.unstubAllEnvs();
    }
    await expect(stat(trap)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await run.log()).toHaveLength(1);
  });

  it('cannot leave a changed engine configuration behind', async () => {
    const trap = join(base, 'executed');
    await writeFile(join(gitDir(), 'config'), `[filter "x"]\n\tclean = touch '${trap}'\n`);
    await writeFile(inFolder('.gitattributes'), '* filter=x\n');
    const again = await workspaces.open('run-1');
    await again.snapshot();
    await expect(stat(trap)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

/** Holds git's first `commit-tree` back until somebody makes the folder `released`. */
const SLOW_GIT = `#!/bin/sh
PATH=\${PATH#*:}
at=\${0%/*}
case " $* " in *' commit-tree '*)
  if mkdir "$at/taken" 2>/dev/null; then
    mkdir "$at/held"
    until [ -d "$at/released" ]; do sleep 0.01; done
  fi ;;
esac
exec git "$@"
`;

/** Starts `late`, lets it see where the branch is, runs `early` to its end, then lets `late` go on. */
async function overtake(
  late: () => Promise<string>,
  early: () => Promise<string>,
): Promise<readonly [PromiseSettledResult<string>, string]> {
  const bin = await installGit(SLOW_GIT);
  return withPath(`${bin}:${process.env['PATH']}`, async () => {
    const overtaken = Promise.allSettled([late()]);
    await vi.waitFor(() => stat(join(bin, 'held')), { timeout: 30_000, interval: 10 });
    const winner = await early();
    await mkdir(join(bin, 'released'));
    return [(await overtaken)[0], winner] as const;
  });
}

/** @returns the folder of a program named git. */
async function installGit(script: string): Promise<string> {
  const bin = join(base, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'git'), script, { mode: 0o755 });
  return bin;
}

async function withPath<T>(path: string, work: () => Promise<T>): Promise<T> {
  const { PATH } = process.env;
  process.env['PATH'] = path;
  try {
    return await work();
  } finally {
    process.env['PATH'] = PATH;
  }
}

/** A repository inside the workspace whose own configuration runs a program. */
async function plantRepository(dir: string, script: string): Promise<void> {
  await rm(join(dir, '.git'), { recursive: true, force: true });
  await execute('git', ['init', '-q'], { cwd: dir });
  await writeFile(
    join(dir, '.git', 'config'),
    `[core]\n\tfsmonitor = ${script}\n\thooksPath = ${join(dir, 'hooks')}\n[filter "evil"]\n\tclean = ${script}\n\tsmudge = ${script}\n[diff "evil"]\n\tcommand = ${script}\n`,
  );
}
