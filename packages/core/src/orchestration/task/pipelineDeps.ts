import type { Checks, StageAgents, Workspace } from '../ports.ts';

/** What the working nodes need from outside (law L10). */
export interface PipelineDeps {
  readonly agents: StageAgents;
  readonly workspace: Workspace;
  readonly checks: Checks;
  /** How often an agent may run the checks within one call that works on a task. @defaultValue 3 */
  readonly agentChecks?: number;
  /** What git holds of a run is kept in the run's file, which other machines take up. @defaultValue false */
  readonly travels?: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}
