import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

let dir: string;
let started: string;

/** A `git` before the real one, which notes each start. */
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-git-processes-'));
  const bin = join(dir, 'bin');
  started = join(bin, 'started');
  mkdirSync(bin);
  const path = process.env['PATH'] ?? '';
  const program = join(bin, 'git');
  writeFileSync(program, `#!/bin/sh\necho x >> '${started}'\nPATH='${path}'\nexec git "$@"\n`);
  chmodSync(program, 0o755);
  vi.stubEnv('PATH', `${bin}${delimiter}${path}`);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
});

/** How many git processes some work starts. */
async function processesOf(work: () => unknown): Promise<number> {
  rmSync(started, { force: true });
  await work();
  return existsSync(started) ? readFileSync(started, 'utf8').trim().split('\n').length : 0;
}

function repository(): string {
  const root = join(dir, 'project');
  mkdirSync(root);
  const user = UserCheckout.create(root);
  user.write('a.txt', 'a\n');
  user.git('add', '.');
  user.git('commit', '-q', '-m', 'First');
  return root;
}

describe('a run of a repository', () => {
  test('starts no more git processes than its work needs', async () => {
    const root = repository();
    const workspace = new GitWorkspace({ dir: root, repository: root });
    const counts: Record<string, number> = {};
    counts['open'] = await processesOf(() => workspace.open('run'));
    const run = await workspace.open('run');
    let tree = '';
    const turn = {
      openAgain: () => workspace.open('run'),
      list: () => run.list(),
      apply: () => run.apply([{ path: 'b.txt', content: 'b\n' }]),
      snapshot: async () => {
        tree = await run.snapshot();
      },
      readAt: () => run.readAt?.(tree, 'b.txt'),
      discard: () => run.discard?.(tree),
      commit: () => run.commit({ tree, message: 'Add b', stepKey: 'T1/1' }),
      integrated: () => run.integrated?.(),
      changes: () => run.changes(null),
      restore: () => run.restore(tree),
      deliver: () => run.deliver?.(),
    };
    for (const [name, work] of Object.entries(turn)) counts[name] = await processesOf(work);
    expect(counts).toEqual({
      open: 6,
      openAgain: 0,
      list: 1,
      apply: 1,
      snapshot: 2,
      readAt: 0,
      discard: 1,
      commit: 3,
      integrated: 0,
      changes: 1,
      restore: 1,
      deliver: 5,
    });
  });
});
