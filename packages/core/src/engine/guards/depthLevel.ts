import { guardsIn, type Visit } from '../visit.ts';
import type { GuardLevel } from './GuardLevel.ts';
import type { LangGraphContext } from './recursionGuard.ts';

/** How far a visit is from being stopped for lack of progress. From the checkpoint alone. */
export function depthLevel(state: object, visit: Visit, limit: number): GuardLevel {
  const { node, step, recursionBase, frame } = visit;
  const { progressStep = 0 } = guardsIn(state, visit);
  return {
    measure: 'depth',
    level: depthContext(state, visit).metadata.recursionDepth,
    limit,
    episode: `${frame}/${progressStep}`,
    evidence: { node, step, progressStep, ancestorFrames: recursionBase },
  };
}

/** The depth of one visit: ancestor frames plus node transitions since the last progress mark. Frozen. */
export function depthContext(state: object, visit: Visit): LangGraphContext {
  const { progressStep = 0 } = guardsIn(state, visit);
  const recursionDepth = visit.recursionBase + Math.max(0, visit.step - progressStep);
  return Object.freeze({ metadata: Object.freeze({ recursionDepth }) });
}
