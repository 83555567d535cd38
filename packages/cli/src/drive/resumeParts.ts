/** What a run is gone on with after a decision. */

export { agentsFrom } from '../project/agentsFrom.ts';
export { tellUncommitted } from '../project/uncommittedChanges.ts';
export { driveRun } from './driveRun.ts';
export { chooseLangGraph } from './langGraphCopy.ts';
