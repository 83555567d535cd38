/**
 * Unwinds a run that now waits for a human. A signal, not a failure: everything up to here is on disk.
 *
 * Deliberately not an `Error`, so that error handlers and crash reports let it pass. Thrown outside LangGraph
 * only: inside a node `interrupt()` suspends, and a thrown signal would be retried, "handled" or lost. It must
 * never have an `is_bubble_up` property: LangGraph drops such a throw and the run reads as finished.
 *
 * Source: 9_ROADMAP-REQ-006.
 */
export class GraphSuspendedSignal {
  readonly kind = 'graph-suspended';
  readonly taskId: string;
  readonly sessionId: string;

  constructor(taskId: string, sessionId: string) {
    this.taskId = taskId;
    this.sessionId = sessionId;
  }
}
