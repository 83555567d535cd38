import { Annotation } from '@langchain/langgraph';
import type { HitlSessionKind } from '../state/hitlSession.ts';
import type { EntropyScore } from './entropy/EntropyMeter.ts';

// The channels the engine itself reads and writes; every durable graph has them.

/** A question that a node's output raised; the next node's entry asks it (commit first, then suspend). */
export interface PendingSuspension {
  readonly sessionId: string;
  readonly kind: HitlSessionKind;
  readonly taskId: string;
  /** The node whose output raised it; routers lead to a node that can ask. */
  readonly node: string;
  /** Of a failure gate: `entropy_limit`, `pivots_exhausted`, … */
  readonly reason?: string;
  /** Of a failure gate that a score opened: the score, and why. */
  readonly entropy?: EntropyScore;
}

export interface GuardedState {
  readonly pendingSuspension?: PendingSuspension | null;
  /** LangGraph's step number of the last progress mark. */
  readonly progressStep?: number;
}

/** The guards' channels of any state; absent in states that have none. */
export const guardsOf = (state: object): GuardedState => state;

/** Added to graphs that do not declare them. */
export const GUARD_CHANNELS = {
  pendingSuspension: Annotation<PendingSuspension | null>({
    reducer: (current, next) => (next === null ? null : (current ?? next)),
    default: () => null,
  }),
  progressStep: Annotation<number>({ reducer: (current, next) => Math.max(current, next), default: () => 0 }),
};
