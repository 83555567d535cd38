import { GitWorkspace } from '@devs/agents';
import { type AgentCall, Orchestrator, type StageAgents, type TaskRequest } from '@devs/core';
import { fakeAgents, scriptedChecks } from '@devs/core/testing';
import { type PostgresRuns, postgres } from '@devs/postgres';

/** A machine with a folder of its own that reaches a cluster and a repository. */
export interface PipelineMachine {
  readonly devs: Orchestrator;
  readonly runs: PostgresRuns;
}

export interface MachineOptions {
  readonly url: string;
  readonly dir: string;
  readonly repository: string;
  /** The first work on the second task never ends, and this is called once it has begun. */
  readonly onSecondTask?: () => void;
}

/** Agents of two tasks, checks and a workspace: everything but where the runs are. */
export function workingIn(dir: string, repository: string, onSecondTask?: () => void) {
  const plain = fakeAgents({ tasks: 2 });
  const agents: StageAgents = {
    ...plain,
    writeTest: (request: TaskRequest, call: AgentCall) => {
      if (onSecondTask === undefined || request.task.name !== 'Task 2') return plain.writeTest(request, call);
      onSecondTask();
      return new Promise<never>(() => {});
    },
  };
  const now = (): Date => new Date(0);
  return { agents, checks: scriptedChecks(), workspace: new GitWorkspace({ dir, repository, now }) };
}

export async function pipelineMachine({
  url,
  dir,
  repository,
  onSecondTask,
}: MachineOptions): Promise<PipelineMachine> {
  const runs = postgres(url);
  return { devs: await Orchestrator.open({ runs, ...workingIn(dir, repository, onSecondTask) }), runs };
}
