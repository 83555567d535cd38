/**
 * Unwinds a run that now waits for a person. All work up to here is on disk.
 *
 * It is not an `Error`, so that error handlers and crash reports ignore it. Thrown outside LangGraph only: inside a
 * node, `interrupt()` suspends, and a thrown signal would be retried, handled or lost. It must not have an
 * `is_bubble_up` property: LangGraph would drop it and report the run as finished.
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
