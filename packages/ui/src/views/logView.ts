import type { LogEntry } from '@devs/core';
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

const KINDS: Readonly<Record<LogKind, RegExp>> = {
  people: /^(?:HITL_|GATE_|FAILURE_GATE|AGENT_ASKED|REW|RUN_REVIVED|STATE_UPDATED|CHANGES_ADOPTED|SANDBOX)/,
  guards: /^(?:GUARD_|RECURSION_|RETRIED|NODE_FAILED|PIVOTED|USAGE_REFUSED)/,
  tasks: /^TASK_/,
  work: /^(?:NODE_|STEP_|RETRIED)/,
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
  if (kind !== undefined && !KINDS[kind].test(entry.name)) return false;
  return text === '' || JSON.stringify(entry).toLowerCase().includes(text.toLowerCase());
}

const labelOfTask = (taskId: string | null): string => `T${/:(\d+)$/.exec(taskId ?? '')?.[1] ?? '0'}`;
