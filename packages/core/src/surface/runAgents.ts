import { DevsError } from '../errors/DevsError.ts';
import type { PipelineDeps } from '../orchestration/task/pipelineDeps.ts';
import type { ThreadStore } from '../state/threads/ThreadStore.ts';
import { recordedAgents } from './agentsIdentity.ts';

/** @throws DevsError `CONFIG_INVALID` for a run that was started with agents, where none are given. */
export function assertAgents(
  id: string,
  store: { readonly threads: ThreadStore },
  pipeline: PipelineDeps | null,
): void {
  if (recordedAgents(id, store) !== null) requirePipeline(id, pipeline);
}

/** @throws DevsError `CONFIG_INVALID` where none are given. */
export function requirePipeline(id: string, pipeline: PipelineDeps | null): PipelineDeps {
  if (pipeline !== null) return pipeline;
  throw new DevsError(`Run "${id}" was started with agents, but no agents are set now.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Open the orchestrator with the agents, workspace and checks that the run was started with.',
    context: { threadId: id },
  });
}
