import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gate } from '@devs/core';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { RUN_SUM, test } from './support/fixtures.ts';
import { takeAsOurs } from './support/takeAsOurs.ts';

/** A person with a home of their own. */
function aPerson() {
  const home = mkdtempSync(join(tmpdir(), 'devs-person-'));
  const folder = join(home, '.local', 'state', 'devs', 'shown');
  const env = { HOME: home, XDG_STATE_HOME: '' };
  return {
    home: join(home, '.local', 'state'),
    folder,
    devs: (dir: string, ...argv: readonly string[]) => callMain(dir, argv, { env }),
    leave: () => rmSync(home, { recursive: true, force: true }),
  };
}

const stale = (command: string) => ({
  exitCode: 6,
  stderr: expect.stringMatching(new RegExp(`^GATE_STALE: .*\n.*${command} [0-9a-f]{8}`)),
});

describe('devs approve without --hash', () => {
  test('is for what this person was shown: by devs run, on a pipe too', async ({ dir }) => {
    const ada = aPerson();
    await ada.devs(dir, ...RUN_SUM);
    expect(readdirSync(ada.folder).map((name) => statSync(join(ada.folder, name)).mode & 0o777)).toEqual([
      0o600,
    ]);
    expect(statSync(ada.folder).mode & 0o777).toBe(0o700);
    expect(await ada.devs(dir, 'approve', 'sum')).toMatchObject({ exitCode: 0 });
    expect(readdirSync(ada.folder)).toEqual([]);
    ada.leave();
  });

  test('is refused to somebody who was shown nothing, until they read it', async ({ dir }) => {
    const [ada, bob] = [aPerson(), aPerson()];
    await ada.devs(dir, ...RUN_SUM);
    expect(await bob.devs(dir, 'approve', 'sum')).toMatchObject(stale('devs show'));
    await bob.devs(dir, 'gates', '--json'); // a list is no reading
    expect(await bob.devs(dir, 'approve', 'sum')).toMatchObject(stale('devs show'));
    for (const how of [[], ['--md'], ['--json']]) {
      await bob.devs(dir, 'show', 'sum', ...how);
      expect(readdirSync(bob.folder)).toHaveLength(1);
      rmSync(bob.folder, { recursive: true });
    }
    await bob.devs(dir, 'show', 'sum');
    expect(await bob.devs(dir, 'approve', 'sum', '--by', 'ada')).toMatchObject({ exitCode: 0 });
    ada.leave();
    bob.leave();
  });

  test('is refused for another version than they were shown, and a no is not', async ({ dir }) => {
    const [ada, bob] = [aPerson(), aPerson()];
    await ada.devs(dir, ...RUN_SUM);
    await takeAsOurs(dir, bob.home);
    await bob.devs(dir, 'show', 'sum');
    await ada.devs(dir, 'edit', 'sum', '--out', 'design.md');
    await bob.devs(dir, 'resume', 'sum');
    const [first] = JSON.parse((await ada.devs(dir, 'gates', '--json')).stdout) as Gate[];
    await ada.devs(dir, 'reject', 'sum', '--feedback', 'Shorter, please');
    await bob.devs(dir, 'resume', 'sum');
    const [second] = JSON.parse((await ada.devs(dir, 'gates', '--json')).stdout) as Gate[];
    expect(second?.sessionId).not.toBe(first?.sessionId);
    expect(await ada.devs(dir, 'approve', 'sum')).toMatchObject(stale('devs show'));
    expect(await bob.devs(dir, 'approve', 'sum')).toMatchObject({ exitCode: 0 });
    ada.leave();
    bob.leave();
  });

  test('where nothing can be remembered takes the hash', async ({ dir }) => {
    const env = { XDG_STATE_HOME: '' };
    const { stdout } = await callMain(dir, RUN_SUM, { env });
    expect(await callMain(dir, ['approve', 'sum'], { env })).toMatchObject(stale('devs show'));
    const command = /^approve: devs (approve \w{8} --hash \w{12})$/m.exec(stdout)?.[1] ?? '';
    expect(await callMain(dir, command.split(' '), { env })).toMatchObject({ exitCode: 0 });
  });
});
