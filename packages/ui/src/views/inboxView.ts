import type { Gate, PipelineRunInfo } from '@devs/core';
import type { Reader } from '../state/RunsPlace.ts';
import { gateLabel } from './choices.ts';

/** A gate in a list. */
export interface GateLine
  extends Pick<Gate, 'sessionId' | 'threadId' | 'kind' | 'artifactHash' | 'message' | 'openedAt'> {
  /** Such as `Design`. */
  readonly about: string;
}

/** A gate in the list of all that wait. */
export interface WaitingLine extends GateLine, Pick<PipelineRunInfo, 'title' | 'cost'> {
  /** What cannot go on before it is decided, for people. */
  readonly behind: string;
}

/** A run in a list. */
export interface RunLine
  extends Pick<PipelineRunInfo, 'id' | 'title' | 'status' | 'reason' | 'driver' | 'updatedAt' | 'cost'> {
  readonly tasks: { readonly total: number; readonly completed: number };
  readonly openGates: number;
}

/** Open gates of every run, oldest first. */
export interface WaitingView {
  readonly gates: readonly WaitingLine[];
  /** All there are. */
  readonly total: number;
  /** Where the next page begins; `null` on the last. */
  readonly nextGates: string | null;
}

/** Newest first. */
export interface RunsView {
  readonly runs: readonly RunLine[];
  /** The run after which the next page begins; `null` on the last. */
  readonly nextRuns: string | null;
}

export interface InboxView extends WaitingView, RunsView {
  /** Runs that do not go on and ask nothing, the latest first. */
  readonly stopped: readonly RunLine[];
}

/** Lines of a page. */
const PAGE = 50;

/** What waits for a person, and the newest of everything else. */
export async function inboxView(reader: Reader): Promise<InboxView> {
  return { ...(await waitingView(reader)), stopped: await stoppedRuns(reader), ...(await runsView(reader)) };
}

/** @throws RangeError for an `after` that no page gave. */
export async function waitingView(reader: Reader, after?: string): Promise<WaitingView> {
  const { gates, next, total } = await reader.openGates({
    limit: PAGE,
    ...(after !== undefined && { after }),
  });
  const statuses = await reader.list({ ids: gates.map(({ threadId }) => threadId) });
  const lines = gates.map((gate, n) => waitingLine(gate, statuses[n] as PipelineRunInfo));
  return { gates: lines, total, nextGates: next };
}

/** @throws DevsError `THREAD_NOT_FOUND` for an `after` that is no run. */
export async function runsView(reader: Reader, after?: string): Promise<RunsView> {
  const found = await reader.list({ limit: PAGE + 1, after });
  const runs = found.slice(0, PAGE).map(runLine);
  return { runs, nextRuns: found.length > PAGE ? (runs.at(-1)?.id ?? null) : null };
}

/** Ended without having finished, told to stop, or left by a driver that has died. */
async function stoppedRuns(reader: Reader): Promise<readonly RunLine[]> {
  const ended = await reader.list({ status: ['failed', 'dead_letter', 'paused'], limit: PAGE });
  const begun = await reader.list({ status: 'running', limit: PAGE });
  return [...ended, ...begun.filter(({ driver }) => driver === null)]
    .filter(({ gates }) => gates.length === 0)
    .map(runLine)
    .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
}

export function inboxGateLine({
  sessionId,
  threadId,
  kind,
  artifactHash,
  message,
  openedAt,
}: Gate): GateLine {
  return { sessionId, threadId, kind, artifactHash, message, openedAt, about: gateLabel(kind).name };
}

function waitingLine(gate: Gate, { title, cost, tasks }: PipelineRunInfo): WaitingLine {
  return { ...inboxGateLine(gate), title, cost, behind: behind(gate, tasks) };
}

const DONE: ReadonlySet<string> = new Set(['completed', 'skipped']);

/** Before there are tasks, a pipeline waits with all of its work. */
function behind({ kind }: Gate, tasks: PipelineRunInfo['tasks']): string {
  const left = tasks.filter(({ status }) => !DONE.has(status)).length;
  if (tasks.length > 0) return `${left} of ${tasks.length} tasks`;
  return kind === 'design_approval' ? 'its plan and tasks' : 'the rest of the run';
}

function runLine({
  id,
  title,
  status,
  reason,
  driver,
  updatedAt,
  cost,
  tasks,
  gates,
}: PipelineRunInfo): RunLine {
  const completed = tasks.filter((task) => task.status === 'completed').length;
  return {
    ...{ id, title, status, reason, driver, updatedAt, cost },
    tasks: { total: tasks.length, completed },
    openGates: gates.length,
  };
}
