import type { Gate, PipelineRunInfo } from '@devs/core';
import type { Reader } from '../state/RunsPlace.ts';
import { gateLabel } from './choices.ts';
import { type GateFacts, gateFacts } from './gateFacts.ts';

/** A gate in a list. */
export interface GateLine
  extends Pick<Gate, 'sessionId' | 'threadId' | 'kind' | 'artifactHash' | 'message' | 'openedAt'> {
  /** Such as `Design`. */
  readonly about: string;
}

/** A gate in the list of all that wait. */
export interface WaitingLine extends GateLine, GateFacts, Pick<PipelineRunInfo, 'title' | 'cost'> {
  /** Of its run: how far it has come. */
  readonly tasks: readonly TaskProgress[];
  /** US dollars; `null` without one. */
  readonly limitUsd: number | null;
}

/** Of a task, how far it is; `asks` where a gate is about it. */
export type TaskProgress = 'done' | 'now' | 'asks' | 'failed' | 'to come';

/** A run in a list. */
export interface RunLine
  extends Pick<
    PipelineRunInfo,
    'id' | 'title' | 'status' | 'reason' | 'driver' | 'running' | 'updatedAt' | 'cost'
  > {
  readonly tasks: { readonly total: number; readonly completed: number };
  readonly openGates: number;
}

/** Open gates of every run, oldest first. */
export interface WaitingView {
  readonly gates: readonly WaitingLine[];
  /** All there are. */
  readonly total: number;
  /** Runs that a process drives, as many as are counted. */
  readonly running: number;
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
  /** Runs that a process executes, the latest first. */
  readonly driven: readonly RunLine[];
  /** Runs that do not go on and ask nothing, the latest first. */
  readonly stopped: readonly RunLine[];
}

/** Lines of a page. */
const PAGE = 50;

/** What waits for a person, and the newest of everything else. */
export async function inboxView(reader: Reader): Promise<InboxView> {
  const begun = await reader.list({ status: 'running', limit: PAGE });
  return {
    ...(await waitingView(reader)),
    driven: begun.filter(({ driver }) => driver !== null).map(runLine),
    stopped: await stoppedRuns(reader, begun),
    ...(await runsView(reader)),
  };
}

/** For the bar above every screen. */
export async function countsView(reader: Reader): Promise<Pick<WaitingView, 'total' | 'running'>> {
  const { total } = await reader.openGates({ limit: 1 });
  return { total, running: await countDriven(reader) };
}

const countDriven = async (reader: Reader): Promise<number> =>
  (await reader.list({ status: 'running', limit: PAGE })).filter(({ driver }) => driver !== null).length;

/** @throws RangeError for an `after` that no page gave. */
export async function waitingView(reader: Reader, after?: string): Promise<WaitingView> {
  const { gates, next, total } = await reader.openGates({
    limit: PAGE,
    ...(after !== undefined && { after }),
  });
  const statuses = await reader.list({ ids: gates.map(({ threadId }) => threadId) });
  const lines = gates.map((gate, at) => waitingLine(gate, statuses[at] as PipelineRunInfo));
  return { gates: lines, total, running: await countDriven(reader), nextGates: next };
}

/** @throws DevsError `THREAD_NOT_FOUND` for an `after` that is no run. */
export async function runsView(reader: Reader, after?: string): Promise<RunsView> {
  const found = await reader.list({ limit: PAGE + 1, after });
  const runs = found.slice(0, PAGE).map(runLine);
  return { runs, nextRuns: found.length > PAGE ? (runs.at(-1)?.id ?? null) : null };
}

/** Failed, paused, decided without a driver, or left by a driver that has died. */
async function stoppedRuns(reader: Reader, begun: readonly PipelineRunInfo[]): Promise<readonly RunLine[]> {
  const ended = await reader.list({ status: ['failed', 'dead_letter', 'paused'], limit: PAGE });
  const waiting = await reader.list({ status: 'waiting', limit: PAGE });
  return [...ended, ...waiting, ...begun]
    .filter(({ gates, driver }) => gates.length === 0 && driver === null)
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

function waitingLine(gate: Gate, { title, cost, tasks, budget }: PipelineRunInfo): WaitingLine {
  const limitUsd = budget.find(({ measure }) => measure === 'usd')?.limit ?? null;
  const progress = tasks.map((task) => progressOf(task, gate));
  return {
    ...inboxGateLine(gate),
    ...gateFacts(gate, tasks),
    title,
    cost,
    limitUsd,
    tasks: progress,
  };
}

const ENDED_BADLY: ReadonlySet<string> = new Set(['failed', 'blocked', 'dead_letter']);

/** Ids of the tasks that a gate asks about; one that is of no task asks about its run. */
export function askedTasks({ artifact, taskId }: Pick<Gate, 'artifact' | 'taskId'>): readonly string[] {
  const { taskIds = [] } = (artifact ?? {}) as { readonly taskIds?: readonly string[] };
  return taskIds.length === 0 ? [taskId] : taskIds;
}

function progressOf({ taskId, status }: PipelineRunInfo['tasks'][number], gate: Gate): TaskProgress {
  if (askedTasks(gate).includes(taskId)) return 'asks';
  if (status === 'completed' || status === 'skipped') return 'done';
  if (ENDED_BADLY.has(status)) return 'failed';
  return status === 'pending' ? 'to come' : 'now';
}

function runLine({
  id,
  title,
  status,
  reason,
  driver,
  running,
  updatedAt,
  cost,
  tasks,
  gates,
}: PipelineRunInfo): RunLine {
  const completed = tasks.filter((task) => task.status === 'completed').length;
  return {
    ...{ id, title, status, reason, driver, running, updatedAt, cost },
    tasks: { total: tasks.length, completed },
    openGates: gates.length,
  };
}
