import type { ProjectConfigInput } from '../config/ProjectConfig.ts';
import { type GitFacts, gitFacts } from './gitFacts.ts';
import { makeProject } from './makeProject.ts';
import { type NodeProject, nodeProject } from './nodeProject.ts';
import { otherTools } from './otherTools.ts';
import { pythonProject } from './pythonProject.ts';

/** What was found in a folder, and the configuration that follows from it. */
export interface DetectedProject {
  readonly git: Omit<GitFacts, 'keeps'>;
  /** `null` without a `package.json`. */
  readonly packageManager: NodeProject['packageManager'] | null;
  /** Folders of the packages of a monorepo, relative. */
  readonly packages: readonly string[];
  /** For people: findings that are theirs to set. */
  readonly hints: readonly string[];
  readonly config: Pick<ProjectConfigInput, 'setup' | 'checks'>;
}

/**
 * Looks for git, the package manager, workspaces and the commands that judge the work: of Node.js, else of Python, else of a
 * Makefile.
 *
 * @throws DevsError `CONFIG_INVALID` when a manifest cannot be read as one.
 */
export async function detectProject(root: string): Promise<DetectedProject> {
  const { keeps, ...git } = await gitFacts(root);
  const node = await nodeProject(root, { keeps });
  const found = [node, await pythonProject(root, { keeps }), await makeProject(root)].filter(
    (each) => each !== null,
  );
  const judging = found.find(({ checks }) => checks.length > 0) ?? found[0];
  const setup = judging?.setup ?? found.find((each) => each.setup !== undefined)?.setup;
  const { checks, hints } = judging ?? { checks: [], hints: [] };
  const { packageManager, packages } = node ?? { packageManager: null, packages: [] };
  return {
    git,
    packageManager,
    packages,
    hints: [...(hints ?? []), ...(checks.length > 0 ? [] : await otherTools(root))],
    config: { ...(setup !== undefined && { setup: [...setup] }), checks: [...checks] },
  };
}
