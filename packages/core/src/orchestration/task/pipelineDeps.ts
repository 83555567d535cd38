import type { Checks, StageAgents, Workspace } from '../ports.ts';

/** What the working nodes need from outside (law L10). */
export interface PipelineDeps {
  readonly agents: StageAgents;
  readonly workspace: Workspace;
  readonly checks: Checks;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}
