import { depthContext, guardsOf } from '../GraphProfile.ts';
import type { Visit } from '../visit.ts';
import type { GuardLevel } from './GuardLevel.ts';

/** How far a visit is from being stopped for lack of progress. From the checkpoint alone. */
export function depthLevel(state: object, visit: Visit, limit: number): GuardLevel {
  const { node, step, recursionBase, frame } = visit;
  const { progressStep = 0 } = guardsOf(state);
  return {
    measure: 'depth',
    level: depthContext(state, visit).metadata.recursionDepth,
    limit,
    episode: `${frame}/${progressStep}`,
    evidence: { node, step, progressStep, ancestorFrames: recursionBase },
  };
}
