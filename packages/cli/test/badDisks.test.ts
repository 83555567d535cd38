import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { howMany } from '../../core/test/support/howMany.ts';
import { tried } from '../../core/test/support/tried.ts';
import { bundledBin } from './support/bundledBin.ts';
import { callMain } from './support/callMain.ts';
import { RUN_SUM, test } from './support/fixtures.ts';
import { takeAsOurs } from './support/takeAsOurs.ts';

// Real file systems of Linux, in a namespace of their own: nobody else sees them, and they go with the shell.

const VIEWS = ['show sum', 'status sum', 'gates', 'log sum', 'doctor', 'explain sum', 'status'] as const;
const WRITES = ['approve sum', 'resume sum', 'pause sum', 'cancel sum', 'prune sum'] as const;
/** Of each; the others differ in nothing that a disk could see. */
const TRIED = howMany('DEVS_DISK_COMMANDS', 2);

const NAMESPACE = ['unshare', '-rm', 'sh', '-euc'] as const;
const hasNamespaces =
  spawnSync(NAMESPACE[0], [...NAMESPACE.slice(1), 'mount -t tmpfs none /mnt']).status === 0;
const RIGS = hasNamespaces
  ? ([
      [
        'read-only',
        () => 'mount --bind . . && mount -o remount,ro,bind .',
        /STATE_IO: .* is read-only\.\n {2}→ Make it/,
      ],
      ['full', onFullDisk, /STATE_DISK_FULL: .*\n {2}→ Free space/],
    ] as const)
  : [];
const here = hasNamespaces ? '' : ' (left out on this machine: file systems of a namespace)';

/** The project on a file system without a byte to spare. */
function onFullDisk(): string {
  return [
    'cp -a . /tmp/kept.$$ && mount -t tmpfs -o size=3m none . && cd "$PWD" && cp -a /tmp/kept.$$/. . && rm -r /tmp/kept.$$',
    'cat /dev/zero > filler 2>/dev/null || true',
  ].join('\n');
}

let bin = '';

beforeAll(async () => {
  bin = await bundledBin(join(process.env['HOME'] ?? '', 'badDisks'));
});

interface Said {
  readonly exitCode: number;
  readonly text: string;
}

/** Runs commands one after the other on the file system that `mount` makes of a project. */
function onDisk(dir: string, mount: string, commands: readonly string[]): readonly Said[] {
  const lines = commands.map((command) => `set +e; "$0" "$1" ${command} 2>&1; printf '\\0%s\\0' $?`);
  const script = [mount, 'cd "$PWD"', ...lines].join('\n');
  const [program, ...args] = NAMESPACE;
  const { stdout, stderr } = spawnSync(program, [...args, script, process.execPath, bin], {
    cwd: dir,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const parts = stdout.split('\0');
  return commands.map((_, at) => ({ text: parts[2 * at] ?? '', exitCode: Number(parts[2 * at + 1]) }));
}

describe(`a state file on a bad disk${here}`, () => {
  test.for(RIGS)(
    'that is %s is shown, and every command that would write says why not',
    {
      timeout: 60_000,
    },
    async ([, mount, why], { dir, task }) => {
      expect((await callMain(dir, RUN_SUM)).exitCode).toBe(75);
      await takeAsOurs(dir);
      const [views, writes] = [VIEWS.slice(0, TRIED), WRITES.slice(0, TRIED)];
      const said = onDisk(dir, mount(), [...views, ...writes]);
      tried(task, { ways: said.length });
      for (const [at, view] of views.entries()) expect(said[at], view).toMatchObject({ exitCode: 0 });
      for (const [at, write] of writes.entries()) {
        expect(said[views.length + at]?.exitCode, write).toBe(5);
        expect(said[views.length + at]?.text, write).toMatch(why);
      }
      expect(said[1]?.text).toContain('waiting for a person');
      expect(said[0]?.text).toContain('could not record that');
      expect((await callMain(dir, ['approve', 'sum'])).exitCode).toBe(0);
    },
  );

  test('that holds something else is told apart from a bug by every command', async ({ dir, task }) => {
    mkdirSync(join(dir, '.devs'));
    writeFileSync(join(dir, '.devs', 'state.sqlite'), `SQLite format 3\0${'damage '.repeat(2000)}`);
    tried(task, { ways: [...VIEWS, ...WRITES].length });
    for (const command of [...VIEWS, ...WRITES]) {
      const { exitCode, stderr } = await callMain(dir, command.split(' '));
      expect(exitCode, command).toBe(5);
      expect(stderr, command).toMatch(/^STATE_CORRUPT: /);
    }
  });
});
