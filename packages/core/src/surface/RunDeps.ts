import type { CodeOfRuns } from '../orchestration/ports.ts';
import type { PipelineDeps } from '../orchestration/task/pipelineDeps.ts';

/** What a handle on a run is given; `null` where it is not there. */
export interface RunDeps {
  readonly pipeline: PipelineDeps | null;
  readonly code: CodeOfRuns | null;
}
