import type { EventName, LogEntry } from '@devs/core';
import type { ReadableRun } from '../state/RunsPlace.ts';

/** Of what kind the lines are that are wanted. */
export type LogKind = 'people' | 'guards' | 'tasks' | 'work';

export interface LogQuery {
  /** Only lines before this position. */
  readonly before?: number;
  /** Such as `T4`. */
  readonly task?: string;
  readonly kind?: LogKind;
  /** Case does not matter. */
  readonly text?: string;
}

export interface LogView {
  /** Oldest first. */
  readonly entries: readonly LogEntry[];
  /** Where the lines before these begin; `null` where there are none. */
  readonly earlier: number | null;
}

/** Lines that a page gets at once. */
const SHOWN = 200;
/** Lines that are looked at for one answer: a word that is nowhere must not cost the whole of a long log. */
const LOOKED_AT = 20_000;
const PAGE = 1_000;

/** The filters that show an event. An event without a filter is only in the whole log. */
const KINDS: Readonly<Record<EventName, readonly LogKind[]>> = {
  RECURSION_DEPTH_WARNING: ['guards'],
  RECURSION_LIMIT_REACHED: ['guards'],
  HITL_SESSION_OPENED: ['people'],
  HITL_SESSION_DECIDED: ['people'],
  GATE_VOTED: ['people'],
  GATE_REMINDED: ['people'],
  GATE_REASSIGNED: ['people'],
  HITL_ANSWER_VOIDED: ['people'],
  HITL_ANSWER_REFUSED: ['people'],
  SIGNAL_PASSED_OVER: [],
  GATE_SHOWN: ['people'],
  GATE_REVEALED: ['people'],
  GATE_ASKED: ['people'],
  AGENT_ASKED: ['people'],
  FAILURE_GATE_OPENED: ['people'],
  CHECKPOINT_SAVE_FAILED: [],
  RUN_DEGRADED: [],
  NODE_STARTED: ['work'],
  NODE_FINISHED: ['work'],
  STEP_FINISHED: ['work'],
  TRANSCRIPT_LOST: [],
  NODE_FAILED: ['guards', 'work'],
  TASK_COMPLETED: ['tasks'],
  TASK_FAILED: ['tasks'],
  TASK_SKIPPED: ['tasks'],
  TASK_REOPENED: ['tasks'],
  TASK_BLOCKED: ['tasks'],
  PIVOTED: ['guards'],
  REWOUND: ['people'],
  REWIND_UNDONE: ['people'],
  AGENTS_CHANGED: [],
  SANDBOX_WAIVED: ['people'],
  WORKSPACE_RESCUED: [],
  CHANGES_ADOPTED: ['people'],
  RUN_SYNCED: [],
  RUN_RECOVERED: [],
  STOP_REQUESTED: ['people'],
  RUN_REVIVED: ['people'],
  RUN_FORKED: [],
  RUN_IMPORTED: ['people'],
  STATE_UPDATED: ['people'],
  RETRIED: ['guards', 'work'],
  GUARD_WARNED: ['guards'],
  GUARD_TRIPPED: ['guards'],
  GUARD_SUPPRESSED: ['guards'],
  GOAL_SET: [],
  GOAL_REACHED: [],
  RUN_SUSPENDED: [],
  TIMER_FIRED: [],
  SIGNAL_RECEIVED: [],
  SIGNAL_TAKEN: [],
  RUN_REMOVED: [],
  RUN_FINISHED: [],
  GRAPH_ACCEPTED: [],
  GRAPH_TAKEN: [],
  LEASE_LOST: [],
  USAGE_REFUSED: ['guards'],
  CALL_NOT_RECORDED: ['guards'],
  SECRET_REDACTED: [],
};

/** The newest lines that are wanted. */
export async function logView(run: Pick<ReadableRun, 'log'>, query: LogQuery): Promise<LogView> {
  const found: LogEntry[] = [];
  let beforeSeq = query.before ?? Number.MAX_SAFE_INTEGER;
  for (let looked = 0; looked < LOOKED_AT; looked += PAGE) {
    const page = await run.log({ beforeSeq, limit: PAGE });
    for (const entry of page.toReversed()) {
      beforeSeq = entry.seq;
      if (isEntryWanted(entry, query)) found.unshift(entry);
      if (found.length === SHOWN) return { entries: found, earlier: beforeSeq };
    }
    if (page.length < PAGE) return { entries: found, earlier: null };
  }
  return { entries: found, earlier: beforeSeq };
}

function isEntryWanted(entry: LogEntry, { task, kind, text = '' }: LogQuery): boolean {
  if (task !== undefined && labelOfTask(entry.taskId) !== task) return false;
  if (kind !== undefined && !kindsOf(entry.name).includes(kind)) return false;
  return text === '' || JSON.stringify(entry).toLowerCase().includes(text.toLowerCase());
}

/** A newer release may have recorded a name that this one does not know. */
const kindsOf = (name: string): readonly LogKind[] =>
  Object.hasOwn(KINDS, name) ? KINDS[name as EventName] : [];

const labelOfTask = (taskId: string | null): string => `T${/:(\d+)$/.exec(taskId ?? '')?.[1] ?? '0'}`;
