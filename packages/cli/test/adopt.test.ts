import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandChecks, GitWorkspace } from '@devs/agents';
import { Orchestrator } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { describe, expect } from 'vitest';
import { specText } from '../src/flags/runSpec.ts';
import { callMain } from './support/callMain.ts';
import { AGENTS, test } from './support/fixtures.ts';
import { takeAsOurs } from './support/takeAsOurs.ts';

const RUN = 'shop';
const GREEN_WHEN_FIXED = ['/bin/sh', '-c', 'test -e fixed.txt'];

/** Agents that never get the checks green; few transitions without progress, then a human is asked. */
async function withRun<T>(dir: string, work: (devs: Orchestrator) => Promise<T>): Promise<T> {
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    agents: fakeAgents({ tasks: 1 }),
    workspace: new GitWorkspace({ dir }),
    checks: new CommandChecks({ argv: GREEN_WHEN_FIXED, sandbox: null }),
    config: { maxRecursionDepth: 5, hitlEntropyThreshold: 0.75 },
  });
  try {
    return await work(devs);
  } finally {
    devs.close();
    await takeAsOurs(dir);
  }
}

const SPEC = specText({
  agents: AGENTS,
  checks: [{ name: 'check', dir: '.', argv: [...GREEN_WHEN_FIXED], timeoutMs: 60_000 }],
  setup: null,
  repository: null,
  sandbox: 'none',
});

describe('devs adopt', () => {
  test('commits a hand fix as the human’s, and the run completes the task from there', async ({ dir }) => {
    const stuck = await withRun(dir, async (devs) => {
      const gates = { design: 'auto', dag: 'auto' } as const;
      return (await devs.start({ id: RUN, brief: '# Shop', gates, agentsRef: SPEC })).resume();
    });
    expect(stuck.status).toBe('waiting');
    const folder = join(dir, '.devs-work', RUN);
    writeFileSync(join(folder, 'fixed.txt'), 'by hand\n');

    const author = 'Ada Lovelace <ada@example.org>';
    const said = await callMain(dir, ['adopt', RUN, '--author', author, '--by', 'ada', '-m', 'Fix the shop']);
    expect(said.exitCode, said.stderr).toBe(0);
    expect(said.stdout).toMatch(
      /^committed [0-9a-f]{7}: 1 file\nthe checks pass\nto resume from there: devs resume shop$/m,
    );

    const [gate] = stuck.gates;
    const done = await withRun(dir, async (devs) => {
      const run = await devs.run(RUN);
      if (gate !== undefined)
        await run.decide(gate, { action: 'continue', by: { kind: 'human', id: 'ada' } });
      return run.resume();
    });
    expect(done.status).toBe('completed');
    const log = execFileSync('git', ['log', '--format=%an: %s'], { cwd: folder, encoding: 'utf8' });
    expect(log).toContain('Ada Lovelace: Fix the shop\n');
    expect(log.indexOf('devs: Task 1')).toBeLessThan(log.indexOf('Ada Lovelace'));
    expect((await callMain(dir, ['log', RUN])).stdout).toContain('1 file changed by human:ada');
  });

  test('has nothing to do in a folder that nobody changed', async ({ dir }) => {
    await withRun(dir, async (devs) => {
      const gates = { design: 'auto', dag: 'auto' } as const;
      return (await devs.start({ id: RUN, brief: '# Shop', gates, agentsRef: SPEC })).resume();
    });
    const said = await callMain(dir, ['admin', 'adopt', RUN, '--author', 'A <a@b>', '--json']);
    expect(JSON.parse(said.stdout)).toEqual({ id: RUN, run: RUN, adopted: null });
  });
});
