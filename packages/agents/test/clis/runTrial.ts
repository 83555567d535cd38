import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Orchestrator, type StageAgents } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { agentsPerStage } from '../../src/agentsPerStage.ts';
import { CommandChecks } from '../../src/checks/CommandChecks.ts';
import type { Sandbox } from '../../src/sandbox/Sandbox.ts';
import { GitWorkspace } from '../../src/workspace/GitWorkspace.ts';
import type { Place } from './Place.ts';
import { FILES_BEFORE, FILES_OF_RUN, PLAN } from './sumTask.ts';
import { expectEqual } from './Trial.ts';

/** A whole run whose task is done by the CLI, from the failing test to the commit; nothing else of it is committed. */
export async function takesToACommit(
  { base }: Place,
  cli: StageAgents,
  sandbox: Sandbox | null,
): Promise<string> {
  const planner: StageAgents = { ...fakeAgents({ tasks: 1 }), distill: async () => PLAN };
  const dir = mkdtempSync(join(base, 'run-'));
  const repository = repositoryIn(dir);
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    agents: agentsPerStage(planner, { writeTest: cli, implement: cli, review: cli, document: cli }),
    workspace: new GitWorkspace({ dir, repository }),
    checks: new CommandChecks({ argv: [process.execPath, '--test'], sandbox }),
  });
  try {
    const gates = { design: 'auto', dag: 'auto' } as const;
    const run = await devs.start({ id: 'sum', brief: '# Sum\n\nAdd.', gates });
    const { status, reason, commits, cost } = await run.resume();
    expectEqual('the run', `${status} ${reason ?? ''}`.trim(), 'completed');
    const files = execFileSync('git', ['ls-files'], {
      cwd: join(dir, '.devs-work', 'sum'),
      encoding: 'utf8',
    });
    expectEqual('its files', files.trim().split('\n').join(' '), FILES_OF_RUN.join(' '));
    return `${commits.length} commit, ${cost.calls} calls, ${cost.tokensIn} + ${cost.tokensOut} tokens`;
  } finally {
    devs.close();
  }
}

/** A repository of one commit. */
function repositoryIn(dir: string): string {
  const repository = join(dir, 'repository');
  mkdirSync(repository);
  for (const [name, content] of Object.entries(FILES_BEFORE)) writeFileSync(join(repository, name), content);
  const git = (...args: readonly string[]): void => void execFileSync('git', args, { cwd: repository });
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=rig', '-c', 'user.email=rig@localhost', 'commit', '--quiet', '--message', 'Begin');
  return repository;
}
