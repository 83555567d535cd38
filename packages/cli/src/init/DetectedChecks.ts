import type { ProjectConfigInput } from '../config/ProjectConfig.ts';

export type DetectedCheck = NonNullable<ProjectConfigInput['checks']>[number];

/** The checks of the work, as the files of a project name them. */
export interface DetectedChecks {
  readonly checks: readonly DetectedCheck[];
  readonly setup?: readonly string[];
  /** For people: findings that are theirs to set. */
  readonly hints: readonly string[];
}
