import { activeNode } from '../../engine/node/nodeContext.ts';
import { gitRecord } from '../../state/GitPackStore.ts';
import type { RunWorkspace } from '../ports.ts';
import type { GraphState } from '../types.ts';
import { driverOf } from './driverOf.ts';
import type { PipelineDeps } from './pipelineDeps.ts';

/** The folder of the run that is being driven; a stop at once reaches what prepares it, and what that tells is told. */
export function openWorkspace(
  { projectConfig }: GraphState,
  { workspace, travels = false }: PipelineDeps,
): Promise<RunWorkspace> {
  const { store, visit, told } = activeNode('a task');
  const { threadId, epoch, signal } = visit;
  return workspace.open(projectConfig.projectId, {
    signal,
    onActivity: told.tell,
    ...(travels && store !== null && { record: gitRecord(threadId, store) }),
    ...(store !== null && epoch !== null && { driver: driverOf(store, { threadId, epoch }) }),
  });
}
