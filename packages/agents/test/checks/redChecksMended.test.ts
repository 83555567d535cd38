import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gate, Orchestrator } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CommandChecks } from '../../src/checks/CommandChecks.ts';
import { GitWorkspace } from '../../src/workspace/GitWorkspace.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-mended-'));
  git('init', '-q');
  commit('process.exit(1);\n');
});

afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));

function git(...args: readonly string[]): string {
  const as = ['-c', 'user.name=a', '-c', 'user.email=a@b.c'];
  return execFileSync('git', [...as, ...args], { cwd: dir, encoding: 'utf8' }).trim();
}

function commit(content: string): string {
  writeFileSync(join(dir, 'check.cjs'), content);
  git('add', 'check.cjs');
  git('commit', '-qm', 'Check');
  return git('rev-parse', 'HEAD');
}

test('red checks that the user mended in the repository are judged at the commit that is there now', async () => {
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    agents: fakeAgents(),
    workspace: new GitWorkspace({ dir, repository: dir }),
    checks: new CommandChecks({ argv: [process.execPath, 'check.cjs'] }),
  });
  try {
    const run = await devs.start({ id: 'mended', brief: '# Mended\n' });
    const again = async (): Promise<Gate | undefined> => {
      const [gate] = (await run.resume()).gates;
      if (gate?.kind === 'baseline')
        await run.decide(gate, { action: 'again', by: { kind: 'human', id: 'ada' } });
      return gate;
    };
    expect(await again()).toMatchObject({ kind: 'baseline' });
    writeFileSync(join(dir, 'check.cjs'), '');
    expect(await again(), 'what is not committed is not the run’s').toMatchObject({ kind: 'baseline' });
    const base = commit('process.exit(0);\n');
    expect(await again()).toMatchObject({ kind: 'design_approval' });
    const synced = (await run.log()).filter(({ name }) => name === 'RUN_SYNCED');
    expect(synced.map(({ payload }) => payload)).toMatchObject([
      { principal: 'human:ada', base, commits: 0 },
    ]);
  } finally {
    devs.close();
  }
}, 60_000);
