import {
  type Gate,
  type LastComment,
  type LogEntry,
  maskAtGate,
  type Orchestrator,
  type PipelineRunInfo,
  type RunListPage,
  shownGate,
} from '@devs/core';

const DEFAULT_RUNS = 50;

/** Every run; with a `limit` or an `after` a page of them, and after which run the next begins. */
export async function listRuns(devs: Pick<Orchestrator, 'list'>, { limit, after }: RunListPage) {
  if (limit === undefined && after === undefined) return { runs: (await devs.list()).map(summaryOf) };
  const size = limit ?? DEFAULT_RUNS;
  const found = await devs.list({ limit: size + 1, after });
  const runs = found.slice(0, size).map(summaryOf);
  return { runs, nextAfter: found.length > size ? (runs.at(-1)?.id ?? null) : null };
}

/** One line per run. */
function summaryOf({ id, title, status, reason, tasks, gates, updatedAt }: PipelineRunInfo) {
  return {
    id,
    title,
    status,
    reason,
    tasks: { total: tasks.length, completed: tasks.filter((task) => task.status === 'completed').length },
    openGates: gates.length,
    updatedAt,
  };
}

/** Everything about a run but what its gates show; that is in {@link gateView}. */
export function runView(status: PipelineRunInfo) {
  const gates = status.gates.map(({ sessionId, kind, artifactHash }) => ({ sessionId, kind, artifactHash }));
  return { ...status, gates };
}

/** An open question as a person would read it before deciding elsewhere, and what was said of its last version. */
export function gateView(gate: Gate, lastComments: readonly LastComment[]) {
  const { sessionId, kind, taskId, artifactHash, message, artifact, openedAt, ...shown } = shownGate(gate);
  const { hiddenPlaces, hiddenCount } = shown;
  const view = {
    ...{ sessionId, kind, taskId, artifactHash, message, artifact, openedAt },
    ...(hiddenCount > 0 && { hiddenPlaces, hiddenCount }),
    ...(lastComments.length > 0 && { lastComments }),
  };
  return maskAtGate(view, { gate: sessionId }).view;
}

export interface LogPage {
  readonly entries: readonly LogEntry[];
  /** Where the next page starts; `null` at the end of the log as it is now. */
  readonly nextAfterSeq: number | null;
}

export function logPage(entries: readonly LogEntry[], limit: number): LogPage {
  const page = entries.slice(0, limit);
  return { entries: page, nextAfterSeq: entries.length > limit ? (page.at(-1)?.seq ?? null) : null };
}
