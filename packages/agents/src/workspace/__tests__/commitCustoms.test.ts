import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import type { CommitWishes } from '../CommitCustoms.ts';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

let base: string;
let user: UserCheckout;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'devs-customs-'));
  user = UserCheckout.create(mkdtempSync(join(base, 'repo-')));
  user.write('a.txt', 'a\n');
  user.git('add', '.');
  user.git('commit', '-q', '-m', 'fix: one\n\nBecause.\n\nRefs: #1');
  user.write('a.txt', 'b\n');
  user.git('commit', '-q', '-a', '-m', 'feat: two');
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true });
});

const ADA = { name: 'Ada', email: 'ada@example.org' };

async function committed(wishes: CommitWishes = {}): Promise<GitRunWorkspace> {
  const workspace = new GitWorkspace({ dir: user.root, repository: user.root, author: ADA, commits: wishes });
  const run = (await workspace.open('run-1')) as GitRunWorkspace;
  await run.apply([{ path: 'b.txt', content: 'b\n' }]);
  await run.commit({ tree: await run.snapshot(), message: 'Add b', stepKey: 'T1' });
  return run;
}

describe('commits in a repository', () => {
  test('are worded as those before them, of which the newest is first', async () => {
    const run = await committed();
    expect(await run.messages(10)).toEqual(['feat: two\n', 'fix: one\n\nBecause.\n\nRefs: #1\n']);
    expect(await run.messages(1)).toHaveLength(1);
    expect(await run.commitNotes()).toEqual([]);
  });

  test('run its hooks on request alone, and say so where they did not', async () => {
    user.write('.git/hooks/commit-msg', '#!/usr/bin/env node\nprocess.exit(1)\n', 0o755);
    user.write('.git/hooks/pre-commit', 'not executable\n', 0o644);
    const run = await committed();
    expect(await run.hook('commit-msg')).toBeNull();
    expect(await run.commitNotes()).toEqual([
      expect.stringContaining('commit-msg of your repository did not run'),
    ]);
    const asked = await committed({ hooks: true });
    expect(await asked.hook('commit-msg')).toEqual({
      script: '#!/usr/bin/env node\nprocess.exit(1)\n',
      interpreter: ['node'],
    });
    expect(await asked.hook('pre-commit')).toBeNull();
    expect(await asked.commitNotes()).toEqual([]);
  });

  test('are signed on request where the user signs, by the user; else it is said', async () => {
    const key = join(base, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const settings = ['[commit]', 'gpgSign = true', '[gpg]', 'format = ssh', '[user]', `signingKey = ${key}`];
    writeFileSync(join(base, 'gitconfig'), `${settings.join('\n')}\n`);
    vi.stubEnv('GIT_CONFIG_GLOBAL', join(base, 'gitconfig'));
    vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
    const unsigned = await committed();
    expect(await unsigned.commitNotes()).toEqual([
      expect.stringContaining('these are not signed; set "git"'),
    ]);
    await unsigned.apply([{ path: 'c.txt', content: 'c\n' }]);

    const run = await committed({ sign: true });
    await run.apply([{ path: 'd.txt', content: 'd\n' }]);
    const sha = await run.commit({ tree: await run.snapshot(), message: 'Add d', stepKey: 'T2' });
    expect(await run.commitNotes()).toEqual([]);
    await run.deliver();
    const commit = user.git('cat-file', 'commit', sha);
    expect(commit).toContain('gpgsig -----BEGIN SSH SIGNATURE-----');
    expect(commit).toContain('committer Ada <ada@example.org>');

    writeFileSync(join(base, 'gitconfig'), '[commit]\ngpgSign = true\n[gpg]\nprogram = /nowhere/gpg\n');
    await run.apply([{ path: 'e.txt', content: 'e\n' }]);
    await run.commit({ tree: await run.snapshot(), message: 'Add e', stepKey: 'T3' });
    expect(await run.commitNotes()).toEqual([expect.stringContaining('signing failed')]);
  });
});
