import { type Gate, type LogEntry, type Orchestrator, type PipelineRunInfo, shownGate } from '@devs/core';
import { type LastComment, maskAtGate, type ShownGate } from '@devs/core/internal';

const DEFAULT_RUNS = 50;

/** Every run; with a `limit` or an `after` a page of them, and after which run the next begins. */
export async function listRunLines(
  devs: Pick<Orchestrator, 'list'>,
  { limit, after }: NonNullable<Parameters<Orchestrator['list']>[0]>,
) {
  if (limit === undefined && after === undefined) return { runs: (await devs.list()).map(runListLine) };
  const size = limit ?? DEFAULT_RUNS;
  const found = await devs.list({ limit: size + 1, after });
  const runs = found.slice(0, size).map(runListLine);
  return { runs, nextAfter: found.length > size ? (runs.at(-1)?.id ?? null) : null };
}

/** One line per run. */
function runListLine({ id, title, status, reason, tasks, gates, updatedAt }: PipelineRunInfo) {
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

/** A run whose gates are named. */
export interface ShownRun extends Omit<PipelineRunInfo, 'gates'> {
  readonly gates: readonly Pick<Gate, 'sessionId' | 'kind' | 'artifactHash'>[];
}

/** Everything about a run but what its gates show; that is in {@link toolGateView}. */
export function toolRunView(status: PipelineRunInfo): ShownRun {
  const gates = status.gates.map(({ sessionId, kind, artifactHash }) => ({ sessionId, kind, artifactHash }));
  return { ...status, gates };
}

/** What of a gate is shown, and what was said of its last version. */
type GateView = Pick<
  Gate,
  'sessionId' | 'kind' | 'taskId' | 'artifactHash' | 'message' | 'artifact' | 'openedAt'
> &
  Partial<Pick<ShownGate, 'hiddenPlaces' | 'hiddenCount'>> & {
    readonly lastComments?: readonly LastComment[];
  };

/** An open question as a person would read it before deciding elsewhere, and what was said of its last version. */
export function toolGateView(gate: Gate, lastComments: readonly LastComment[]): GateView {
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
