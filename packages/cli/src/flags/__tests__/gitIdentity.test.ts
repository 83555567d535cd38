import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gitIdentity } from '../gitAuthor.ts';

let dir: string;
const git = (...args: readonly string[]): unknown => execFileSync('git', args, { cwd: dir });

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-identity-'));
  git('init', '-q');
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('whom git names', () => {
  it('is nobody without name and address', async () => {
    expect(await gitIdentity(dir)).toBeNull();
    git('config', 'user.name', 'Ada');
    expect(await gitIdentity(dir)).toBeNull();
  });

  it('is on one line, and ends no header', async () => {
    git('config', 'user.email', 'ada@example.org');
    git('config', 'user.name', 'Ada\u202e\nSigned-off-by: Bob <b@example.org>');
    expect(await gitIdentity(dir)).toEqual({
      name: 'Ada Signed-off-by: Bob b@example.org',
      email: 'ada@example.org',
    });
  });

  it('is not asked of a program that the repository names', async () => {
    const ran = join(dir, 'ran');
    const script = join(dir, 'program');
    writeFileSync(script, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    for (const name of ['core.fsmonitor', 'core.pager', 'core.editor', 'credential.helper', 'alias.config']) {
      git('config', name, name.startsWith('alias') ? `!${script}` : script);
    }
    git('config', 'user.name', 'Ada');
    git('config', 'user.email', 'ada@example.org');
    expect(await gitIdentity(dir)).toEqual({ name: 'Ada', email: 'ada@example.org' });
    expect(() => execFileSync('ls', [ran], { stdio: 'ignore' })).toThrow('Command failed');
  });
});
