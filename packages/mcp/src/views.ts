import {
  type Gate,
  type LogEntry,
  type Orchestrator,
  type PipelineRunInfo,
  type Run,
  shownGate,
} from '@devs/core';
import { type LastComment, maskAtGate, type ShownGate } from '@devs/core/internal';
import { WrongArguments } from './renderToolError.ts';
import type { ReadContext, RunReader } from './StateReader.ts';

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
interface ShownRun extends Omit<PipelineRunInfo, 'gates'> {
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

interface LogPage {
  readonly entries: readonly LogEntry[];
  /** Where the next page starts; `null` at the end of the log as it is now. */
  readonly nextAfterSeq: number | null;
}

export function logPage(entries: readonly LogEntry[], limit: number): LogPage {
  const page = entries.slice(0, limit);
  return { entries: page, nextAfterSeq: entries.length > limit ? (page.at(-1)?.seq ?? null) : null };
}

/** How close a run is to being stopped for making no progress [9_ROADMAP-RISK-401]. */
export async function recursionView({ devs, maxRecursionDepth }: ReadContext, threadId: string) {
  const depth = await devs.view(threadId, (run) => run.recursionDepth());
  return { threadId, runId: threadId, ...depth, MAX_RECURSION_DEPTH: maxRecursionDepth };
}

/** Characters after which a page ends, whatever its limit: of JSON, unmasked. */
const PAGE_CHARACTERS = 64 * 1024;

interface TranscriptArguments {
  readonly threadId: string;
  readonly stage: string;
  readonly attempt?: number | undefined;
  readonly afterSeq: number;
  readonly limit: number;
}

interface TranscriptPage {
  readonly entries: Awaited<ReturnType<Run['transcript']>>;
  /** Where the next page starts; `null` at the end of what is written now. */
  readonly nextAfterSeq: number | null;
}

/**
 * A page of what a stage told.
 *
 * @throws WrongArguments for a stage or an attempt there is none of.
 */
export const transcriptView = ({ devs }: ReadContext, asked: TranscriptArguments): Promise<TranscriptPage> =>
  devs.view(asked.threadId, (run) => pageWithin(run, asked));

async function pageWithin(
  run: RunReader,
  { threadId: _, attempt, limit, ...query }: TranscriptArguments,
): Promise<TranscriptPage> {
  const wanted: Parameters<Run['transcript']>[0] = { ...query, ...(attempt !== undefined && { attempt }) };
  const entries = await run.transcript({ ...wanted, limit: limit + 1 }).catch((error: unknown) => {
    throw error instanceof RangeError ? new WrongArguments(error.message) : error;
  });
  const page = transcriptPage(entries, limit);
  const last = entries.at(-1);
  if (page.nextAfterSeq !== null || last === undefined || entries.length <= limit) return page;
  const [more] = await run.transcript({ ...wanted, afterSeq: last.seq, limit: 1 });
  return { entries, nextAfterSeq: more === undefined ? null : last.seq };
}

/** What was written together has one number, so a page holds all of it. */
function transcriptPage(entries: Awaited<ReturnType<Run['transcript']>>, limit: number): TranscriptPage {
  let size = 0;
  const next = entries.findIndex(({ seq, activity }, at) => {
    const isFull = at >= limit || size >= PAGE_CHARACTERS;
    size += JSON.stringify(activity).length;
    return isFull && seq !== entries[at - 1]?.seq;
  });
  return next === -1
    ? { entries, nextAfterSeq: null }
    : { entries: entries.slice(0, next), nextAfterSeq: entries[next - 1]?.seq ?? null };
}
