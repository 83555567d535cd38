/** A turn of a node: before its work, and after its output exists. */
export type TurnType = 'Thought' | 'Action';

/** One row of the turn journal. Source: 9_ROADMAP-REQ-014. */
export interface LangGraphCheckpoint {
  readonly id: string;
  /** The run's thread id. */
  readonly graphId: string;
  readonly nodeName: string;
  readonly turnType: TurnType;
  /** The whole state, as plain JSON. */
  readonly state: Record<string, unknown>;
  /** The task; the project's id if the node has none. */
  readonly taskId: string;
  readonly createdAt: Date;
  /** LangGraph's task id; pairs the two rows of one node execution. */
  readonly visit?: string;
}
