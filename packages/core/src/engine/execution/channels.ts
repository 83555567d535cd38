import { Annotation, type LangGraphRunnableConfig } from '@langchain/langgraph';
import type { HitlSessionKind } from '../../state/gates/hitlSession.ts';
import type { EntropyScore } from '../entropy/scoreEntropy.ts';

// The channels the engine itself reads and writes. Every durable graph has them beside its own: in its checkpoints, and
// in nothing that its nodes, edges, callers and streams get.

/** A question that a node's output raised; the next node's entry asks it (commit first, then suspend). */
export interface RaisedSuspension {
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
  readonly pendingSuspension?: RaisedSuspension | null;
  /** LangGraph's step number of the last progress mark. */
  readonly progressStep?: number;
}

/** A write of a node to its author's channels, and to the engine's own. */
export type NodeUpdate<State> = Partial<State> & Partial<GuardedState>;

/** The guards' channels of a state that has them among its fields. */
export const guardsOf = (state: object): GuardedState => state;

/** Added to graphs that do not declare them. */
export const GUARD_CHANNELS = {
  pendingSuspension: Annotation<RaisedSuspension | null>({
    reducer: (current, next) => (next === null ? null : (current ?? next)),
    default: () => null,
  }),
  progressStep: Annotation<number>({ reducer: (current, next) => Math.max(current, next), default: () => 0 }),
};

export const GUARD_NAMES = Object.keys(GUARD_CHANNELS) as readonly (keyof GuardedState)[];

/** Lent by LangGraph to a task besides its input. */
interface TaskAccess {
  readonly __pregel_read?: (channels: readonly string[]) => Readonly<Record<string, unknown>>;
  readonly __pregel_send?: (writes: readonly (readonly [string, unknown])[]) => void;
}

/** The guards' channels as the task's super-step began; `null` outside a graph. */
export function readGuards(config: LangGraphRunnableConfig): GuardedState | null {
  return readChannels(config, GUARD_NAMES);
}

/** Channels as the task's super-step began, those without a value left out; `null` outside a graph. */
export function readChannels(
  { configurable }: LangGraphRunnableConfig,
  names: readonly string[],
): Readonly<Record<string, unknown>> | null {
  const { __pregel_read: read } = (configurable ?? {}) as TaskAccess;
  return read?.(names) ?? null;
}

/** Written with what the task returns, and dropped with it when the task fails or is tried again. */
export function writeChannels(
  { configurable }: LangGraphRunnableConfig,
  writes: readonly (readonly [string, unknown])[],
): void {
  if (writes.length === 0) return;
  const { __pregel_send: send } = (configurable ?? {}) as TaskAccess;
  send?.(writes);
}

export function writeGuards(config: LangGraphRunnableConfig, update: GuardedState): void {
  writeChannels(config, Object.entries(update));
}
