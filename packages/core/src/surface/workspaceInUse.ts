import type { OpenOptions, PipelinePorts, RunWorkspace } from '../orchestration/ports.ts';
import type { PipelineApp } from './PipelineApp.ts';

/** A run's handle on its file and on what the pipeline works with; `null` where no agents are given. */
export interface RunWithDeps {
  readonly app: PipelineApp;
  readonly pipeline: PipelinePorts | null;
}

/** The workspace of a run; `null` before the first task: opening a workspace makes it. */
export async function workspaceInUse(
  id: string,
  { app, pipeline }: RunWithDeps,
  options: OpenOptions = {},
): Promise<RunWorkspace | null> {
  if (pipeline === null) return null;
  const values = await app.values(id);
  return (values?.tasks ?? []).length === 0 ? null : pipeline.workspace.open(id, options);
}
