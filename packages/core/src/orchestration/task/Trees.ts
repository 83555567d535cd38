import type { RunWorkspace } from '../ports.ts';

/** Trees of a run, whatever lies in its folder. */
export type Trees = Required<Pick<RunWorkspace, 'integrated' | 'overlay' | 'compare' | 'readAt'>>;

/** What a workspace tells of its trees; `null` for one that does not. */
export function treesOf(workspace: RunWorkspace): Trees | null {
  const { integrated, overlay, compare, readAt } = workspace;
  if (!integrated || !overlay || !compare || !readAt) return null;
  return {
    integrated: integrated.bind(workspace),
    overlay: overlay.bind(workspace),
    compare: compare.bind(workspace),
    readAt: readAt.bind(workspace),
  };
}
