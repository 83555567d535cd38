import type { GraphState, ProjectStatus } from './types.ts';

/** The update that moves the project to another status. */
export function advance(
  state: GraphState,
  status: ProjectStatus,
): Pick<GraphState, 'status' | 'projectConfig'> {
  return { status, projectConfig: { ...state.projectConfig, status } };
}
