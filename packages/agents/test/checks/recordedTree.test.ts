import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitWorkspace } from '@devs/agents';
import { type CheckRequest, Orchestrator, type RunWorkspace, type Workspace } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

type OpenOptions = NonNullable<Parameters<Workspace['open']>[1]>;

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-recorded-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Somebody writes into the folder between a task's last turn and its verification. */
class IntrudedWorkspace extends GitWorkspace {
  override async open(threadId: string, options?: OpenOptions): Promise<RunWorkspace> {
    const run = await super.open(threadId, options);
    const isVerified = existsSync(join(run.dir, 'implement/1.txt'));
    if (isVerified) writeFileSync(join(run.dir, 'intruder.txt'), 'nobody reviewed this\n');
    return run;
  }
}

test("a task's commit holds what its last turn recorded, and what came into the folder since is not lost", async () => {
  const workspace = new IntrudedWorkspace({ dir });
  const checks = {
    run: async ({ dir: folder }: CheckRequest) => {
      const passed = existsSync(join(folder, 'implement/1.txt'));
      return { passed, exitCode: passed ? 0 : 1, timedOut: false, output: '', command: 'check' };
    },
  };
  const agents = fakeAgents({ tasks: 1 });
  const devs = await Orchestrator.open({ dir: join(dir, '.devs'), agents, workspace, checks });
  const run = await devs.start({ id: 'r', brief: '# R\n', gates: { design: 'auto', dag: 'auto' } });
  expect(await run.resume()).toMatchObject({ status: 'completed', commits: { length: 1 } });
  devs.close();
  expect(readFileSync(join(dir, '.devs-work/r/intruder.txt'), 'utf8')).toBe('nobody reviewed this\n');
  const files = await (await new GitWorkspace({ dir }).open('r')).changes(null);
  expect(files?.files.map(({ path }) => path)).toEqual(['document/1.txt', 'implement/1.txt', 'test/1.txt']);
});
