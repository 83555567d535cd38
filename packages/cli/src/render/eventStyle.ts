import type { EventName } from '@devs/core';
import type { Style } from '../terminal/Line.ts';

/** What somebody who reads a story looks for: work that is done, what went wrong, and what may need them. */
const STYLES: Readonly<Partial<Record<EventName, Style>>> = {
  TASK_COMPLETED: 'good',
  TASK_FAILED: 'bad',
  NODE_FAILED: 'bad',
  TASK_BLOCKED: 'due',
  TASK_SKIPPED: 'due',
  FAILURE_GATE_OPENED: 'due',
  HITL_ANSWER_VOIDED: 'due',
  HITL_ANSWER_REFUSED: 'due',
  GUARD_WARNED: 'due',
  GUARD_TRIPPED: 'due',
  RECURSION_DEPTH_WARNING: 'due',
  RECURSION_LIMIT_REACHED: 'due',
  RUN_DEGRADED: 'due',
  RETRIED: 'due',
};

/** How the line of an event looks; a name that is no event's has no style. */
export const eventStyle = (name: string): Style | undefined =>
  Object.hasOwn(STYLES, name) ? STYLES[name as EventName] : undefined;
