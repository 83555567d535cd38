import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandChecks, GitWorkspace } from '@devs/agents';
import { type AgentCall, Orchestrator, type TaskRequest, type WorkResult } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

/** Every test has to have its implementation, and a fine one. */
const RUNNER = 'for test in test/*; do [ "$(cat implement/$(basename $test))" = fine ] || exit 1; done';

const SETUP = `
  mkdir -p node_modules/runner
  echo '${RUNNER}' > node_modules/runner/run
`;

/** What a suite may do to the one after it. */
const CHECK = `
  sh node_modules/runner/run
  status=$?
  : > node_modules/runner/run
  exit $status
`;

const shell = (script: string): CommandChecks => new CommandChecks({ argv: ['sh', '-c', script] });

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-outside-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('a run', () => {
  test('is not verified by a runner that an agent or a check of it has replaced', async () => {
    const proposals: Readonly<Record<string, readonly (readonly [path: string, content: string])[]>> = {
      '1': [
        ['node_modules/runner/run', ''],
        ['implement/1.txt', 'fine'],
      ],
      '2': [
        ['implement/2.txt', 'broken'],
        ['implement/2.txt', 'fine'],
      ],
    };
    const calls: string[] = [];
    const implement = async ({ task }: TaskRequest, _call: AgentCall): Promise<WorkResult> => {
      const number = task.taskId.split(':').at(-1) ?? '';
      const [path, content] = proposals[number]?.[calls.filter((call) => call === number).length] ?? ['', ''];
      calls.push(number);
      return { summary: 'Done.', files: [{ path, content }] };
    };
    const devs = await Orchestrator.open({
      dir: join(dir, '.devs'),
      agents: { ...fakeAgents({ tasks: 2 }), implement },
      workspace: new GitWorkspace({ dir, setup: shell(SETUP) }),
      checks: shell(CHECK),
    });
    const run = await devs.start({ id: 'r', brief: '# R\n', gates: { design: 'auto', dag: 'auto' } });
    expect(await run.resume()).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(await run.log())).toContain("the run's trees do not hold it");
    devs.close();

    expect(calls).toEqual(['1', '1', '2', '2']);
    const clone = join(dir, 'clone');
    execFileSync('git', ['clone', '-q', join(dir, '.devs/git/r.git'), clone]);
    for (const script of [SETUP, CHECK]) execFileSync('sh', ['-c', script], { cwd: clone });
  });
});
