import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import type { Lease } from '../../state/threads/threadRecords.ts';
import { type GuardedState, guardsOf } from './channels.ts';

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
