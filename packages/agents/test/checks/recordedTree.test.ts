import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitWorkspace } from '@devs/agents';
import { type CheckRequest, type OpenOptions, Orchestrator, type RunWorkspace } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-recorded-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Somebody writes into the folder between a task's last turn and its verification. */
class IntrudedWorkspace extends GitWorkspace {
  /** By `research`, by the turn, by `verify`. */
  #opened = 0;

  override async open(threadId: string, options?: OpenOptions): Promise<RunWorkspace> {
    const run = await super.open(threadId, options);
    this.#opened += 1;
    if (this.#opened === 3) writeFileSync(join(run.dir, 'intruder.txt'), 'nobody reviewed this\n');
    return run;
  }
}

test("a task's commit holds what its last turn recorded, and what came into the folder since is kept aside", async () => {
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
  expect(await run.drive()).toMatchObject({ status: 'completed', commits: { length: 1 } });
  const rescued = (await run.log()).filter(({ name }) => name === 'WORKSPACE_RESCUED');
  devs.close();
  expect(rescued).toMatchObject([{ payload: { ref: 'refs/devs/rescued/1', files: 1 } }]);
  const files = await (await new GitWorkspace({ dir }).open('r')).changes(null);
  expect(files?.files.map(({ path }) => path)).toEqual(['document/1.txt', 'implement/1.txt', 'test/1.txt']);
});
