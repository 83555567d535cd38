import type { ProjectConfigInput } from '../config/ProjectConfig.ts';

export type DetectedCheck = NonNullable<ProjectConfigInput['checks']>[number];

/** What judges the work, as the files of a project say it. */
export interface DetectedChecks {
  readonly checks: readonly DetectedCheck[];
  readonly setup?: readonly string[];
  /** For people: what was found and is theirs to set. */
  readonly hints: readonly string[];
}
