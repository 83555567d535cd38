import type { Checks, StageAgents, Workspace } from '../ports.ts';

/** What the working nodes need from outside (law L10). */
export interface PipelineDeps {
  readonly agents: StageAgents;
  readonly workspace: Workspace;
  readonly checks: Checks;
  /** How often an agent may run the checks within one call that works on a task. @defaultValue 3 */
  readonly agentChecks?: number;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}
