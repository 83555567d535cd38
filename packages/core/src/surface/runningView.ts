import type { EngineStore } from '../engine/EngineStore.ts';
import type { EventName } from '../events/events.ts';
import { taskLabel } from '../orchestration/taskStates.ts';

/** What a driver does at this moment. */
export interface RunningView {
  readonly node: string;
  /** Such as `T4`; `null` outside of a task. */
  readonly task: string | null;
  /** `null` while the node does what is no step. */
  readonly step: string | null;
  /** ISO 8601, UTC: when the step began, or the node. */
  readonly since: string;
  /** The process that does it. */
  readonly driver: string;
}

/** After one of these, no node is at work until the next begins. */
const ENDS: readonly EventName[] = [
  'NODE_FINISHED',
  'NODE_FAILED',
  'RETRIED',
  'RUN_RECOVERED',
  'RUN_SUSPENDED',
  'RUN_FINISHED',
];

/** `null` for a run that nobody drives, and between two nodes. */
export function runningView(
  threadId: string,
  { threads, log, steps }: Pick<EngineStore, 'threads' | 'log' | 'steps'>,
): RunningView | null {
  const driver = threads.driverOf(threadId);
  if (driver === null) return null;
  const begun = log.lastOf(threadId, ['NODE_STARTED', ...ENDS]);
  if (begun?.name !== 'NODE_STARTED') return null;
  const { node } = begun.payload as { readonly node: string };
  const step = steps.inFlight(threadId, begun.at);
  const now = step ?? { node, taskId: begun.taskId, name: null, startedAt: begun.at };
  return {
    node: now.node,
    task: now.taskId === null ? null : taskLabel(now.taskId),
    step: now.name,
    since: new Date(now.startedAt).toISOString(),
    driver,
  };
}
