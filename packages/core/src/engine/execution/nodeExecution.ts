import { Annotation, type LangGraphRunnableConfig } from '@langchain/langgraph';
import type { HitlSessionKind } from '../../state/gates/hitlSession.ts';
import type { Lease } from '../../state/threads/threadRecords.ts';
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

/** One execution of one node, as LangGraph tells it. */
export interface NodeExecution {
  readonly node: string;
  /** The run's thread; in a child frame, the thread whose lease it runs under. */
  readonly threadId: string;
  /** Thread of the graph the node belongs to: the run's, or that of a child frame. */
  readonly frame: string;
  /** LangGraph's task id: the same over resume, retry and crash; another one after a rewind. */
  readonly lgTaskId: string;
  readonly checkpointId: string | null;
  /** LangGraph's super-step. Grows over resumes. */
  readonly step: number;
  /** Ancestor frames, for a graph that runs inside a graph. */
  readonly recursionBase: number;
  /** From 1; LangGraph's retries of this execution. */
  readonly attempt: number;
  /** Epoch of the lease it runs under; `null` in plain LangGraph use, where nothing is fenced. */
  readonly epoch: number | null;
  /** The lease itself: only its holder writes under it. */
  readonly lease: unknown;
  readonly signal: AbortSignal;
  /** The engine's own channels as the super-step began; absent where the state itself has them. */
  readonly guards?: GuardedState | null;
  /** True once somebody asked the run to stop at the next safe point. */
  readonly isDraining: () => boolean;
}

/** Configuration keys of a driven run. Plain LangGraph use has none of them. */
export interface DrivenConfigurable {
  readonly thread_id: string;
  readonly lease_thread_id: string;
  readonly lease_epoch: number;
  readonly lease: Lease;
}

export function nodeExecutionOf(node: string, config: LangGraphRunnableConfig): NodeExecution {
  const configurable = config.configurable ?? {};
  const frame = String(configurable['thread_id'] ?? '');
  const threadId = String(configurable['lease_thread_id'] ?? frame);
  const { taskId, checkpointId, nodeAttempt } = config.executionInfo ?? {};
  return {
    node,
    threadId,
    frame,
    lgTaskId: taskId ?? `${threadId}/${node}`,
    checkpointId: checkpointId ?? null,
    step: asCount(config.metadata?.['langgraph_step']),
    recursionBase: asCount(configurable['recursion_base']),
    attempt: nodeAttempt ?? 1,
    epoch: typeof configurable['lease_epoch'] === 'number' ? configurable['lease_epoch'] : null,
    lease: configurable['lease'],
    signal: config.signal ?? new AbortController().signal,
    isDraining: () => config.control?.drainRequested ?? false,
  };
}

/** What the guards go by in a visit: from the checkpoint alone. */
export function guardsIn(state: unknown, { guards }: Pick<NodeExecution, 'guards'>): GuardedState {
  return guards ?? guardsOf(Object(state) as object);
}

/** True when the run is driven by this library; false in plain LangGraph use. */
export function isDriven(config: LangGraphRunnableConfig | undefined): boolean {
  return typeof config?.configurable?.['lease_epoch'] === 'number';
}

const asCount = (value: unknown): number => (typeof value === 'number' ? value : 0);
