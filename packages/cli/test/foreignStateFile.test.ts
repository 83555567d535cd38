import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase } from '@devs/core';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { RUN_EMPTY, test } from './support/fixtures.ts';

const stateFileIn = (dir: string): string => join(dir, '.devs', 'state.sqlite');

/** Another person's home. */
const homeIn = (dir: string, name: string) => ({ XDG_STATE_HOME: mkdtempSync(join(dir, name)) });

/** A project out of an archive that somebody else made, with a run in it. */
async function unpacked(dir: string): Promise<string> {
  const [theirs, mine] = [join(dir, 'theirs'), join(dir, 'mine')];
  for (const each of [theirs, mine]) mkdirSync(each);
  expect((await callMain(theirs, RUN_EMPTY, { env: homeIn(dir, 'their') })).stderr).toBe('');
  execFileSync('tar', ['-cf', 'archive.tar', '-C', theirs, '.devs'], { cwd: dir });
  execFileSync('tar', ['-xf', '../archive.tar'], { cwd: mine });
  return mine;
}

function terminal(...lines: readonly string[]) {
  async function* typed(): AsyncGenerator<string> {
    for (const line of lines) yield `${line}\n`;
  }
  return { isTTY: true, stdin: Object.assign(typed(), { isTTY: true }) };
}

const idIn = (text: string): string => /devs trust ([0-9a-f]{64})/.exec(text)?.[1] ?? '';

/** What drives: a recorded run, and a new one beside it. */
const DRIVING = [['resume', 'sum'], RUN_EMPTY, [...RUN_EMPTY, '--id', 'other'], ['admin', 'adopt', 'sum']];

describe('a state file that this user has not made', () => {
  test('is not driven without a yes, and may be looked at', async ({ dir }) => {
    const mine = await unpacked(dir);
    const env = homeIn(dir, 'my');
    for (const verb of DRIVING) {
      const refused = await callMain(mine, verb, { env });
      expect(refused, verb[0]).toMatchObject({ exitCode: 2, stdout: '' });
      expect(refused.stderr).toContain('STATE_NOT_TRUSTED');
      expect(refused.stderr).toContain('1 runs, each with the commands that resume it');
    }
    expect((await callMain(mine, ['status', '--json'], { env })).exitCode).not.toBe(2);
    expect((await callMain(mine, ['gates', '--json'], { env })).stdout).toContain('design_approval');
  });

  test('is driven with its id, for that one command', async ({ dir }) => {
    const mine = await unpacked(dir);
    const env = homeIn(dir, 'my');
    const resume = ['resume', 'sum'];
    const id = idIn((await callMain(mine, resume, { env })).stderr);
    expect((await callMain(mine, [...resume, '--trust', '0'.repeat(64)], { env })).stderr).toContain(id);
    for (const given of [{ argv: [...resume, '--trust', id] }, { argv: resume, env: { DEVS_TRUST: id } }])
      expect((await callMain(mine, given.argv, { env: { ...env, ...given.env } })).stderr).not.toContain(
        'STATE_NOT_TRUSTED',
      );
    expect((await callMain(mine, resume, { env })).stderr).toContain('STATE_NOT_TRUSTED');
  });

  test('is driven from then on once it was accepted, wherever it is moved or copied to', async ({ dir }) => {
    const mine = await unpacked(dir);
    const env = homeIn(dir, 'my');
    const id = idIn((await callMain(mine, ['resume', 'sum'], { env })).stderr);
    expect((await callMain(mine, ['trust', id, '--json'], { env })).stdout).toContain('"accepted": true');
    cpSync(join(mine, '.devs'), join(dir, 'copy', '.devs'), { recursive: true });
    for (const each of [mine, join(dir, 'copy')])
      expect((await callMain(each, ['resume', 'sum'], { env })).stderr).not.toContain('STATE_NOT_TRUSTED');
  });

  test('is asked about at a terminal, once', async ({ dir }) => {
    const mine = await unpacked(dir);
    const env = homeIn(dir, 'my');
    const resume = ['resume', 'sum', '--no-ask'];
    const no = await callMain(mine, resume, { env, ...terminal('no') });
    expect(no.stdout).toContain('accept its runs (yes or no): ');
    expect(no.stderr).toContain('STATE_NOT_TRUSTED');
    const yes = await callMain(mine, resume, { env, ...terminal('yes') });
    expect(yes.stderr).not.toContain('STATE_NOT_TRUSTED');
    expect((await callMain(mine, resume, { env, ...terminal() })).stdout).not.toContain('accept its runs');
  });

  test('is refused for what is in its schema even with a yes, and viewed', async ({ dir }) => {
    const mine = await unpacked(dir);
    const db = createDatabase({ dbPath: stateFileIn(mine) });
    db.exec('CREATE TRIGGER planted AFTER INSERT ON hitl_sessions BEGIN SELECT 1; END');
    db.close();
    const env = homeIn(dir, 'my');
    const id = idIn((await callMain(mine, ['resume', 'sum'], { env })).stderr);
    const refused = await callMain(mine, ['resume', 'sum', '--trust', id], { env });
    expect(refused).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('DROP TRIGGER "planted";'),
    });
    const told: string[] = [];
    const emit = process.emitWarning;
    process.emitWarning = (text: string | Error) => void told.push(String(text));
    const viewed = await callMain(mine, ['gates', '--json'], { env });
    process.emitWarning = emit;
    expect(viewed.stdout).toContain('design_approval');
    expect(told.join()).toContain('trigger planted on hitl_sessions');
  });

  test('is taken as it is where nothing is in it', async ({ dir }) => {
    mkdirSync(join(dir, '.devs'));
    createDatabase({ dbPath: stateFileIn(dir) }).close();
    const env = homeIn(dir, 'my');
    expect((await callMain(dir, RUN_EMPTY, { env })).stderr).toBe('');
    expect((await callMain(dir, ['resume', 'sum'], { env })).stderr).toBe('');
  });
});

describe('a state file that devs has made for this user', () => {
  test('is never asked about', async ({ dir }) => {
    const env = homeIn(dir, 'my');
    for (const verb of [RUN_EMPTY, ['resume', 'sum'], RUN_EMPTY])
      expect((await callMain(dir, verb, { env })).stderr).toBe('');
  });

  test('is restored from a backup without a question', async ({ dir }) => {
    const env = homeIn(dir, 'my');
    await callMain(dir, RUN_EMPTY, { env });
    expect((await callMain(dir, ['admin', 'backup', 'kept.sqlite'], { env })).exitCode).toBe(0);
    const restored = join(dir, 'restored');
    mkdirSync(join(restored, '.devs'), { recursive: true });
    cpSync(join(dir, 'kept.sqlite'), stateFileIn(restored));
    expect((await callMain(restored, ['resume', 'sum'], { env })).stderr).toBe('');
  });

  test('is told by its id where there is no home to keep that in', async ({ dir }) => {
    const env = { XDG_STATE_HOME: undefined, HOME: undefined };
    const made = await callMain(dir, RUN_EMPTY, { env });
    const id = /DEVS_TRUST=([0-9a-f]{64})/.exec(made.stderr)?.[1] ?? '';
    expect((await callMain(dir, ['resume', 'sum'], { env })).stderr).toContain('STATE_NOT_TRUSTED');
    expect((await callMain(dir, ['resume', 'sum'], { env: { ...env, DEVS_TRUST: id } })).stderr).toBe('');
  });

  test('is not believed to be where others can write', async ({ dir }) => {
    const env = homeIn(dir, 'my');
    await callMain(dir, RUN_EMPTY, { env });
    const folder = join(env.XDG_STATE_HOME, 'devs', 'state-files');
    expect(readdirSync(folder)).toHaveLength(1);
    chmodSync(folder, 0o777);
    expect(await callMain(dir, ['resume', 'sum'], { env })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('another user can write to it'),
    });
  });
});
