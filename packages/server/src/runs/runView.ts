import { runStatusOf, type Turn, turnId } from './standing.ts';

/** A run as LangGraph's clients read it. */
export interface RunView {
  readonly run_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly status: string;
  readonly metadata: object;
  readonly kwargs: object;
  readonly multitask_strategy: string;
}

/** The thread of a run. */
interface ViewedThread {
  readonly thread: string;
  readonly assistant: string;
  /** Whether it waits for an answer. */
  readonly asks: boolean;
  readonly updatedAt: string;
}

export function runView(turn: Turn, { thread, assistant, asks, updatedAt }: ViewedThread): RunView {
  return {
    run_id: turnId(thread, turn),
    thread_id: thread,
    assistant_id: assistant,
    created_at: turn.createdAt,
    updated_at: updatedAt,
    status: runStatusOf(turn, asks),
    metadata: { graph_id: assistant, assistant_id: assistant },
    kwargs: {},
    multitask_strategy: 'reject',
  };
}
