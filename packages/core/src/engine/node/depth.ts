import type { EventScope, NewEvent } from '../../events/events.ts';
import { guardsIn, type NodeExecution } from '../execution/nodeExecution.ts';
import { type GuardLevel, guardFact } from '../guards/lattice.ts';
import { checkRecursionDepth } from '../guards/recursionGuard.ts';

/** How deep a visit is, and what its guard says to that. */
export interface Depth {
  /** Ancestor frames plus node transitions since the last progress mark. */
  readonly current: number;
  /** Node transitions without progress from which a human is asked. */
  readonly limit: number;
  /** LangGraph's super-step of that mark. */
  readonly progressStep: number;
  /** True below the limit. */
  readonly isAllowed: boolean;
  /** True from the warning share of the limit on. */
  readonly isWarned: boolean;
}

/** From the checkpoint alone: the same in every execution of a visit. */
export function depthOf(state: object, visit: NodeExecution, limit: number): Depth {
  const { progressStep = 0 } = guardsIn(state, visit);
  const current = visit.recursionBase + Math.max(0, visit.step - progressStep);
  let isWarned = false;
  const events = {
    emit: () => {
      isWarned = true;
    },
  };
  const { allowed } = checkRecursionDepth({ metadata: { recursionDepth: current } }, { events, limit });
  return { current, limit, progressStep, isAllowed: allowed, isWarned };
}

/** How far a visit is from being stopped for lack of progress. */
export function depthLevel({ current, limit, progressStep }: Depth, visit: NodeExecution): GuardLevel {
  const { node, step, recursionBase, frame } = visit;
  return {
    measure: 'depth',
    level: current,
    limit,
    episode: `${frame}/${progressStep}`,
    evidence: { node, step, progressStep, ancestorFrames: recursionBase },
  };
}

/** What is told of a depth once its visit is on record. */
export function depthWarnings(depth: Depth, visit: NodeExecution, scope: EventScope): readonly NewEvent[] {
  if (!depth.isWarned) return [];
  const payload = { depth: depth.current, limit: depth.limit };
  const warning: NewEvent = { name: 'RECURSION_DEPTH_WARNING', payload, scope };
  const level = depthLevel(depth, visit);
  return depth.isAllowed ? [warning, guardFact({ event: 'GUARD_WARNED', level }, scope)] : [warning];
}
