import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { configPath } from '../src/config/configFile.ts';
import type { ProjectConfigInput } from '../src/config/ProjectConfig.ts';
import { callMain } from './support/callMain.ts';
import { AGENTS, BRIEF, test } from './support/fixtures.ts';
import { driveShop, RUN } from './support/waitingProject.ts';
import { trusting, writeConfig } from './support/writeConfig.ts';

/** What a stranger would have a configuration do: nobody is asked, nothing confines, and a program is started. */
function hostile(dir: string): ProjectConfigInput {
  const touch = (name: string) => ['touch', join(dir, name)];
  return {
    agents: AGENTS,
    gates: { design: 'auto', dag: 'auto', review: 'auto' },
    sandbox: 'none',
    setup: touch('setup-ran'),
    checks: [{ name: 'check', argv: touch('check-ran') }],
  };
}

const ran = (dir: string): readonly string[] =>
  ['setup-ran', 'check-ran'].filter((name) => existsSync(join(dir, name)));

const run = ['run', BRIEF, '--id', 'sum'];

function terminal(...lines: readonly string[]) {
  async function* typed(): AsyncGenerator<string> {
    for (const line of lines) yield `${line}\n`;
  }
  return { isTTY: true, stdin: Object.assign(typed(), { isTTY: true }) };
}

describe('a configuration that this user has not accepted', () => {
  test('out of an archive is not used: nothing it names runs, and no run is recorded', async ({ dir }) => {
    const [packed, unpacked] = [join(dir, 'packed'), join(dir, 'unpacked')];
    mkdirSync(unpacked);
    writeConfig(packed, hostile(unpacked));
    execFileSync('tar', ['-cf', 'archive.tar', '-C', packed, '.devs'], { cwd: dir });
    execFileSync('tar', ['-xf', '../archive.tar'], { cwd: unpacked });

    const refused = await callMain(unpacked, run);
    expect(ran(unpacked)).toEqual([]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    const [, sha256 = ''] = trusting(unpacked);
    expect(refused.stderr).toContain('CONFIG_NOT_TRUSTED');
    expect(refused.stderr).toContain(`accept it with devs trust ${sha256}`);
    expect((await callMain(unpacked, ['status', '--json'])).stdout.trim()).toBe('[]');
  });

  test('is used with its hash, for that one command', async ({ dir }) => {
    writeConfig(dir, hostile(dir));
    const [flag = '', sha256 = ''] = trusting(dir);
    const other = await callMain(dir, [...run, flag, '0'.repeat(64)]);
    expect(other.stderr).toContain('CONFIG_NOT_TRUSTED');
    const env = { DEVS_TRUST: `${'0'.repeat(64)} ${sha256.toUpperCase()}` };
    expect((await callMain(dir, [...run, '--until', 'design'], { env })).stderr).toBe('');
    expect((await callMain(dir, run)).stderr).toContain('CONFIG_NOT_TRUSTED');
    await callMain(dir, [...run, flag, sha256]);
    expect(ran(dir)).toEqual(['setup-ran', 'check-ran']);
  });

  test.for(['abc', '*', `${'a'.repeat(64)}b`])('is not accepted with %j', async (hash, { dir }) => {
    writeConfig(dir, hostile(dir));
    const refused = await callMain(dir, [...run, '--trust', hash]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('must be a SHA-256');
  });

  test('is shown on a terminal with all that it does, asked about, and remembered until it changes', async ({
    dir,
  }) => {
    writeConfig(dir, { ...hostile(dir), agents: 'none' });
    const no = await callMain(dir, run, terminal('y', 'no'));
    expect(no.exitCode).toBe(2);
    for (const line of [
      'gates:    design is approved by policy without asking',
      'sandbox:  none, commands have your full access',
      `setup:    touch ${join(dir, 'setup-ran')}`,
      `check:    "check", up to 120 s: touch ${join(dir, 'check-ran')}`,
    ]) {
      expect(no.stdout).toContain(line);
    }
    const ended = await callMain(dir, run, terminal());
    expect(ended.stderr).toContain('CONFIG_NOT_TRUSTED');

    const yes = await callMain(dir, run, terminal('yes'));
    expect(yes.exitCode, yes.stderr).toBe(0);
    expect((await callMain(dir, run)).exitCode).toBe(0);
    writeFileSync(configPath(dir), `${readFileSync(configPath(dir), 'utf8')} `);
    expect((await callMain(dir, run)).stderr).toContain('CONFIG_NOT_TRUSTED');
  });

  test('is asked about by every verb that uses it, and by none that only reads', async ({ dir }) => {
    await driveShop(dir);
    writeConfig(dir, { agents: 'none' });
    for (const verb of [
      ['status'],
      ['gates'],
      ['show', RUN],
      ['log', RUN],
      ['reject', RUN, '--feedback', 'no'],
      ['doctor'],
    ]) {
      expect((await callMain(dir, verb)).exitCode, verb[0]).toBe(0);
    }
    for (const verb of [
      ['run', BRIEF],
      ['resume', RUN],
      ['adopt', RUN],
      ['sync', RUN],
      ['rewind', RUN, 'T1'],
    ]) {
      expect((await callMain(dir, verb)).stderr, verb[0]).toContain('CONFIG_NOT_TRUSTED');
    }
  });

  test('shows what a word hides, and names every word apart', async ({ dir }) => {
    const argv = ['sh', '-c', 'true\n  check:    "test", up to 120 s: npm test\u202e\u001b[2J'];
    writeConfig(dir, { checks: [{ name: 'a\nb', argv }] });
    const { stderr } = await callMain(dir, run);
    expect(stderr).toContain(String.raw`check:    "a\nb", up to 120 s: sh -c "true\n`);
    expect(stderr).not.toMatch(/^ {2}check: {4}"test"/m);
    expect(stderr).not.toContain('\u001b');
  });

  test('is not asked about where the brief is what is typed', async ({ dir }) => {
    writeConfig(dir, { agents: 'none' });
    const typed = await callMain(dir, ['run', '-', '--id', 'sum'], terminal('yes'));
    expect(typed.stderr).toContain('CONFIG_NOT_TRUSTED');
  });
});

describe('a configuration that devs wrote', () => {
  test('counts as accepted, as it was written and where it was written', async ({ dir }) => {
    const project = join(dir, 'project');
    mkdirSync(project);
    await callMain(project, ['init', '--agents', 'none']);
    const first = await callMain(project, [...run, '--no-repository']);
    expect(first.exitCode, first.stderr).toBe(75);
    const moved = join(dir, 'moved');
    renameSync(project, moved);
    expect((await callMain(moved, run)).stderr).toContain('CONFIG_NOT_TRUSTED');
  });

  test.for([
    ['HOME is not set', { XDG_STATE_HOME: '' }],
    ['not stored: ', { XDG_STATE_HOME: '/dev/null' }],
  ] as const)(
    'is told to be accepted with each command where it cannot be kept: %s',
    async ([words, env], { dir }) => {
      const init = await callMain(dir, ['init', '--agents', 'none'], { env });
      expect(init).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(words) });
      expect(init.stderr).toContain(`--trust ${trusting(dir)[1]}`);
      const used = await callMain(dir, [...run, ...trusting(dir)], { env });
      expect(used.exitCode, used.stderr).toBe(75);
      const kept = await callMain(dir, ['trust', trusting(dir)[1] ?? ''], { env });
      expect(kept).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('CONFIG_INVALID') });
    },
  );
});

describe('devs trust', () => {
  test('asks, keeps, and takes back', async ({ dir }) => {
    writeConfig(dir, { agents: 'none' });
    const [, sha256 = ''] = trusting(dir);
    expect((await callMain(dir, ['trust'])).stderr).toContain('CONFIG_NOT_TRUSTED');
    expect((await callMain(dir, ['trust', '0'.repeat(64)])).stderr).toContain('CONFIG_NOT_TRUSTED');
    expect((await callMain(dir, ['trust'], terminal('no'))).exitCode).toBe(2);
    const asked = await callMain(dir, ['trust'], terminal('yes'));
    expect(asked.stdout).toContain('accepted until it changes');
    expect((await callMain(dir, run)).exitCode).toBe(75);

    expect((await callMain(dir, ['trust', '--revoke', '--json'])).stdout).toContain('"revoked": 1');
    expect((await callMain(dir, run)).stderr).toContain('CONFIG_NOT_TRUSTED');
    const given = await callMain(dir, ['trust', sha256, '--json']);
    expect(JSON.parse(given.stdout)).toEqual({ file: configPath(dir), sha256, accepted: true });
  });

  test('has nothing to accept where there is no configuration, which needs no yes', async ({ dir }) => {
    expect(await callMain(dir, ['trust'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('nothing to accept'),
    });
    expect((await callMain(dir, [...run, '--agents', 'none'])).exitCode).toBe(75);
  });

  test('does not believe a list that others can write', async ({ dir }) => {
    const env = { XDG_STATE_HOME: join(dir, 'state') };
    writeConfig(dir, { agents: 'none' });
    await callMain(dir, ['trust', ...trusting(dir).slice(1)], { env });
    chmodSync(join(dir, 'state', 'devs', 'trust.json'), 0o666);
    const refused = await callMain(dir, run, { env });
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('writable by you alone'),
    });
  });
});
