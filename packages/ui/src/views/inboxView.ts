import type { Gate, RunStatus } from '@devs/core';
import type { Reader } from '../state/RunsFile.ts';
import { wordsOf } from './choices.ts';

/** A gate in a list. */
export interface GateLine
  extends Pick<Gate, 'sessionId' | 'threadId' | 'kind' | 'artifactHash' | 'message' | 'openedAt'> {
  /** Such as `Design`. */
  readonly about: string;
}

/** A run in a list. */
export interface RunLine
  extends Pick<RunStatus, 'id' | 'title' | 'status' | 'reason' | 'driver' | 'updatedAt' | 'cost'> {
  readonly tasks: { readonly total: number; readonly completed: number };
  readonly openGates: number;
}

export interface InboxView {
  /** Open, of every run, oldest first. */
  readonly gates: readonly GateLine[];
  /** Newest first. */
  readonly runs: readonly RunLine[];
}

export async function inboxView(reader: Reader): Promise<InboxView> {
  const runs = await reader.list();
  const gates = runs.flatMap((run) => run.gates);
  return {
    gates: gates.map(gateLine).sort((a, b) => a.openedAt.localeCompare(b.openedAt)),
    runs: runs.map(runLine),
  };
}

export function gateLine({ sessionId, threadId, kind, artifactHash, message, openedAt }: Gate): GateLine {
  return { sessionId, threadId, kind, artifactHash, message, openedAt, about: wordsOf(kind).name };
}

function runLine({ id, title, status, reason, driver, updatedAt, cost, tasks, gates }: RunStatus): RunLine {
  const completed = tasks.filter((task) => task.status === 'completed').length;
  return {
    ...{ id, title, status, reason, driver, updatedAt, cost },
    tasks: { total: tasks.length, completed },
    openGates: gates.length,
  };
}
