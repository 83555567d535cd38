import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { test as base, describe, expect } from 'vitest';
import { removeLeft, temporaryFolder } from '../support/temporaryFolder.ts';

const test = base.extend<{ git: (...args: readonly string[]) => { status: number | null; stdout: string } }>({
  git: async ({}, use) => {
    const cwd = mkdtempSync(join(tmpdir(), 'devs-bare-'));
    const git = (...args: readonly string[]) => spawnSync('git', args, { cwd, encoding: 'utf8' });
    git('init', '-q', '-b', 'main');
    await use(git);
    rmSync(cwd, { recursive: true });
  },
});

describe('the machine that a test sees', () => {
  test('has a git that knows nobody', ({ git }) => {
    for (const who of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT']) {
      expect(git('var', who)).toMatchObject({ status: 128, stdout: '' });
    }
  });

  test('has no git configuration but that of the repository, and no maintenance', ({ git }) => {
    const scopes = git('config', '--list', '--show-scope', '--name-only').stdout.split('\n');
    const foreign = scopes.filter((line) => line !== '' && !line.startsWith('local\t'));
    expect(foreign).toEqual(['global\tuser.useconfigonly', 'global\tmaintenance.auto']);
  });

  test('has a home that is nobody’s, and nothing that points elsewhere', () => {
    expect(homedir()).not.toBe(userInfo().homedir);
    expect(homedir()).toMatch(join(tmpdir(), 'devs-home-'));
    expect(Object.keys(env).filter((name) => /^(?:GIT|XDG)_/.test(name))).toEqual(['GIT_CONFIG_NOSYSTEM']);
  });

  test('has no certificates that every program would read', () => {
    expect(env['NODE_EXTRA_CA_CERTS']).toBeUndefined();
  });
});

describe('the folder in memory that tests write in', () => {
  test('is not taken where the owner chose one', () => {
    expect(temporaryFolder('/var/tmp')).toBeNull();
  });

  test('is removed once its run is gone and nothing came into it for an hour', () => {
    const memory = mkdtempSync(join(tmpdir(), 'devs-memory-'));
    const { pid: gone } = spawnSync('true');
    const folder = (name: string, minutes: number): string => {
      const since = Date.now() / 1000 - minutes * 60;
      mkdirSync(join(memory, name, 'inside'), { recursive: true });
      utimesSync(join(memory, name), since, since);
      return name;
    };
    folder(`devs-tests-${gone}-a`, 61);
    const kept = [
      folder(`devs-tests-${gone}-b`, 59),
      folder(`devs-tests-${process.pid}-c`, 61),
      folder('another', 61),
    ];
    removeLeft(memory);
    expect(readdirSync(memory).sort()).toEqual(kept.sort());
    rmSync(memory, { recursive: true });
  });
});
