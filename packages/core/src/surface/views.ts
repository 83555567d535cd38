import type { BudgetMeasure } from '../config/budgetMeasures.ts';
import { TRIGGER } from '../engine/breakpoints/Breakpoint.ts';
import type { RunInfo, RunOutcome } from '../engine/drive/RunResult.ts';
import { pendingStop, type StopView } from '../engine/drive/stopRequests.ts';
import type { EngineStore } from '../engine/gates/EngineStore.ts';
import { type Gate, openGates } from '../engine/gates/Gate.ts';
import { recordedShape } from '../engine/graph/graphShape.ts';
import { infoOf, isLeftToDo } from '../engine/runs/lists.ts';
import type { RunIndex } from '../engine/runs/Runs.ts';
import type { ListedRun } from '../engine/runs/standing.ts';
import { DevsError } from '../errors/DevsError.ts';
import type { EventName } from '../events/events.ts';
import type {
  CommitView,
  Delivery,
  PipelinePorts,
  Provenance,
  ReviewScope,
  StageAgents,
} from '../orchestration/ports.ts';
import { reviewDecisions } from '../orchestration/review/reviewGate.ts';
import { isPipelineRun, withCurrentCommits } from '../orchestration/storedState.ts';
import { isTaskTerminal, taskLabel } from '../orchestration/taskStates.ts';
import type { GraphState, TaskRecord, TaskStatus } from '../orchestration/types.ts';
import type { HitlSessionKind } from '../state/gates/hitlSession.ts';
import type { StepSummary } from '../state/steps/stepRecords.ts';
import type { RunCost } from '../state/steps/stepSpending.ts';
import type { ThreadStore } from '../state/threads/ThreadStore.ts';
import { hasEnded } from '../state/threads/threadRecords.ts';
import type { PipelineApp } from './PipelineApp.ts';

/** Which agents a run was started with; part of its record. */
export interface AgentsIdentity {
  readonly name: string;
  readonly provenance: Provenance;
  /** What else shapes their answers, such as the version and hash of their prompts. */
  readonly fingerprint?: string;
}

export function agentsIdentityOf({ name, provenance, fingerprint }: StageAgents): AgentsIdentity {
  return { name, provenance, ...(fingerprint !== undefined && { fingerprint }) };
}

/** One line: `openai:gpt-5 (live; prompts v1 1a2b3c4d5e6f)`. Equal words are equal agents. */
function formatIdentity({ name, provenance, fingerprint }: AgentsIdentity): string {
  return `${name} (${fingerprint === undefined ? provenance : `${provenance}; ${fingerprint}`})`;
}

/** As a run's record has them; `null` of one that was started without. */
export function recordedAgents(
  id: string,
  { threads }: { readonly threads: ThreadStore },
): AgentsIdentity | null {
  const { agents = null } = threads.require(id).policies;
  return agents as AgentsIdentity | null;
}

/** Whoever reads the log later knows whose answers they are from here on. */
export function tellChangedAgents(threadId: string, agents: StageAgents, store: EngineStore): void {
  const { agents: recorded = null } = store.threads.require(threadId).policies;
  if (recorded === null) return;
  const payload = {
    started: formatIdentity(recorded as AgentsIdentity),
    now: formatIdentity(agentsIdentityOf(agents)),
  };
  if (payload.started !== payload.now) store.commit((emit) => emit('AGENTS_CHANGED', payload, { threadId }));
}

/** A run's record, and the agents of this process. */
interface AgentsOfRun {
  readonly app: { readonly store: { readonly threads: ThreadStore } };
  readonly pipeline: PipelinePorts | null;
}

/** @throws DevsError `CONFIG_INVALID` for a run that was started with agents, where none are given. */
export function assertAgents(id: string, { app, pipeline }: AgentsOfRun): void {
  if (recordedAgents(id, app.store) !== null) requirePipeline(id, pipeline);
}

/** @throws DevsError `CONFIG_INVALID` where none are given. */
export function requirePipeline(id: string, pipeline: PipelinePorts | null): PipelinePorts {
  if (pipeline !== null) return pipeline;
  throw new DevsError(`Run "${id}" was started with agents, but no agents are set now.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Open the orchestrator with the agents, workspace and checks that the run was started with.',
    context: { threadId: id },
  });
}

// A run as people and programs read it.

/** One task, as people count it. */
export interface TaskView {
  readonly taskId: string;
  /** `T1`, `T2`, … */
  readonly label: string;
  readonly name: string;
  readonly status: TaskStatus;
  readonly gitHash: string | null;
}

/** One limit of a run's budget, with what humans have added to it. */
interface BudgetUse {
  readonly measure: BudgetMeasure;
  readonly limit: number;
  readonly spent: number;
  /** Held back for calls in flight. */
  readonly reserved: number;
}

/** How the code of a run is reviewed, and how often it was. */
interface ReviewStatus {
  readonly scope: ReviewScope;
  readonly approved: number;
  readonly rejected: number;
}

/** One time a run was set back. */
interface RewindView {
  readonly id: string;
  /** The task it was set back to, such as `T2`. */
  readonly target: string;
  /** Tasks that were undone, such as `T3`. */
  readonly undone: readonly string[];
  readonly principal: string;
  readonly reason: string | null;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** `unfinished`: the run's files follow with the next drive. `undone`: it was taken back. */
  readonly state: 'unfinished' | 'done' | 'undone';
}

/** A run of the pipeline, read without executing it. */
export interface PipelineRunInfo extends RunInfo {
  readonly title: string;
  /** The process that runs it; `null` if no live process does. */
  readonly driver: string | null;
  /** Its current work; `null` if no process runs it, and between two nodes. */
  readonly running: RunningView | null;
  /** The request to stop that the run has not followed yet; `null` without one. */
  readonly stopping: StopView | null;
  /** Whether journal rows were lost. */
  readonly degraded: boolean;
  /** Source of the agents' answers; `null` without agents. */
  readonly agents: AgentsIdentity | null;
  readonly workspace: string | null;
  readonly tasks: readonly TaskView[];
  readonly gates: readonly Gate[];
  readonly cost: RunCost;
  /** `null` without code reviews, and before the first checkpoint. */
  readonly review: ReviewStatus | null;
  /** Empty without a budget. */
  readonly budget: readonly BudgetUse[];
  /** Oldest first. */
  readonly rewinds: readonly RewindView[];
}

/** Result of executing a run of the pipeline. */
export type PipelineResult = RunOutcome & {
  readonly commits: readonly CommitView[];
  /** The branch in the user's repository; `null` without a repository or commits. */
  readonly delivery: Delivery | null;
  readonly cost: RunCost;
};

/** One event of a run's log. */
export interface LogEntry {
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly name: string;
  readonly taskId: string | null;
  readonly payload: unknown;
}

export function taskView({ taskId, name, status, gitHash }: TaskRecord): TaskView {
  return { taskId, label: taskLabel(taskId), name, status, gitHash: gitHash ?? null };
}

/** The next drive repeats a failed attempt of the active task. */
const taskViews = (state: GraphState | null, isOver: boolean): readonly TaskView[] =>
  (state?.tasks ?? []).map((task) => {
    const isFinal = isOver || state === null || isTaskTerminal(task, state.activeTaskId);
    return taskView(task.status === 'failed' && !isFinal ? { ...task, status: 'in_progress' } : task);
  });

/** What a driver does at this moment. */
interface RunningView {
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
function runningView(
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

/** One durable step of a run: a call of an agent, or what else is recorded once. */
export interface StepView {
  readonly node: string;
  /** Such as `implement`; of a node it is unique in a visit. */
  readonly name: string;
  /** Such as `T4`; `null` outside of a task. */
  readonly task: string | null;
  readonly taskId: string | null;
  /** The same for all steps of one visit of a node. */
  readonly visit: string;
  /** `begun`: it runs, or its process died in it. */
  readonly state: 'begun' | 'failed' | 'done';
  /** How often it was begun, from 1. */
  readonly attempt: number;
  /** ISO 8601, UTC: of the last attempt. */
  readonly startedAt: string;
  /** ISO 8601, UTC; `null` without a result. */
  readonly finishedAt: string | null;
  /** Of every attempt. The costs of all steps add up to that of the run. */
  readonly cost: RunCost;
}

export function stepView(step: StepSummary): StepView {
  const { node, name, taskId, lgTaskId, state, attempt, startedAt, finishedAt } = step;
  return {
    ...{ node, name, taskId, attempt },
    task: taskId === null ? null : taskLabel(taskId),
    visit: lgTaskId.split('/')[0] ?? lgTaskId,
    state: state === 'intent' ? 'begun' : state,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    cost: costOf(step),
  };
}

/** As a run's cost counts it: what is only recorded costs nothing. */
function costOf({ kind, state, usage, requests }: StepSummary): RunCost {
  const { tokensIn, tokensOut, costUsd, unpriced = 0 } = usage;
  const isCounted = kind === 'call' && state === 'done';
  const isReported = [tokensIn, tokensOut, costUsd].some((figure) => figure !== undefined);
  return {
    requests: kind === 'call' ? requests : 0,
    tokensIn: tokensIn ?? 0,
    tokensOut: tokensOut ?? 0,
    costUsd: costUsd ?? 0,
    calls: isCounted && isReported ? 1 : 0,
    unpriced: isCounted && (costUsd === undefined || unpriced > 0) ? 1 : 0,
  };
}

// How a run of the pipeline stands, from the rows of its state file.

/** The pipeline's state at its latest checkpoint; `null` before the first, and for a run of another graph. */
export async function currentState(id: string, app: PipelineApp): Promise<GraphState | null> {
  if (!isPipelineRun(app.store.threads.require(id))) return null;
  return withCurrentCommits(await app.values(id), id, app.store);
}

/** The status of a run, read without executing it. */
export async function runStatus(id: string, app: PipelineApp): Promise<PipelineRunInfo> {
  const { store } = app;
  const state = await currentState(id, app);
  const { threads, steps } = store;
  const thread = threads.require(id);
  const driver = threads.driverOf(id);
  return {
    ...infoOf(thread, driver !== null, store.labels.of(id)),
    title: String(thread.policies['title'] ?? id),
    driver,
    running: runningView(id, store),
    stopping: pendingStop(id, store),
    degraded: thread.degraded,
    agents: recordedAgents(id, store),
    workspace: threads.folderOf(thread),
    tasks: taskViews(state, hasEnded(thread.status)),
    gates: openGates(id, store.sessions),
    cost: steps.costOf(id),
    review: state === null ? null : reviewStatus(state),
    budget: budgetUses(id, store),
    rewinds: rewindViews(id, store),
  };
}

/** Use of each limit of the run's budget, without limits per task. */
const budgetUses = (id: string, { budgets }: EngineStore): readonly BudgetUse[] =>
  budgets.usesOf(id).map(({ measure, limit, spent, reserved }) => ({ measure, limit, spent, reserved }));

/** How the code of a run is reviewed; `null` also for a run of an own graph, which has no project. */
function reviewStatus(state: Pick<GraphState, 'hitlDecisions'> & Partial<GraphState>): ReviewStatus | null {
  const scope = state.projectConfig?.review;
  if (scope === undefined) return null;
  const decisions = reviewDecisions(state);
  const approved = decisions.filter(({ signal }) => signal.approved).length;
  return { scope, approved, rejected: decisions.length - approved };
}

/** Rewinds as people see them: one that was undone has this as its state, and is one line. */
const rewindViews = (id: string, { rewinds }: EngineStore): readonly RewindView[] =>
  rewinds
    .list(id)
    .filter(({ before }) => before.takesBack === null)
    .map(({ id: rewindId, targetTaskId, undone, before, state, createdAt }) => ({
      id: rewindId,
      target: taskLabel(targetTaskId),
      undone: undone.map(({ taskId }) => taskLabel(taskId)),
      principal: before.principal,
      reason: before.reason,
      at: new Date(createdAt).toISOString(),
      state: state === 'intent' ? 'unfinished' : state,
    }));

/** What a list tells of a run that nobody drives, beside what every list has. */
type ListedStatus = Omit<
  PipelineRunInfo,
  | ('id' | 'title' | 'status' | 'reason' | 'gates')
  | ('isDriven' | 'isDue' | 'driver' | 'running' | 'stopping')
>;

/** What runs of the pipeline have, and others have none of. */
const PLAIN = { agents: null, workspace: null, tasks: [], review: null, rewinds: [] } as const;

/** As it is kept beside a run's file, for {@link statusListed}. */
export function listedStatus(status: PipelineRunInfo): ListedRun & ListedStatus {
  const {
    id: _,
    title: __,
    status: ___,
    reason: ____,
    isDriven: _____,
    isDue: ______,
    driver: _______,
    running: ________,
    stopping: _________,
    gates,
    ...listed
  } = status;
  return { as: 1, ...listed };
}

/** The status of a run without its file; `null` where what is kept beside that says nothing, or is of another release. */
export function statusListed(
  id: string,
  { view, title, status, reason, gates, metadata, tags }: RunIndex,
): PipelineRunInfo | null {
  if (!isListed(view)) return null;
  const { as: _, ...listed } = view;
  const here = {
    id,
    title: title ?? id,
    status,
    reason,
    isDriven: false,
    isDue: isLeftToDo({ status, reason, wakeSeq: 0, handledSeq: 0 }), // without a signal since
    driver: null,
    running: null,
    stopping: null,
  };
  return { ...here, ...PLAIN, ...listed, gates, metadata, tags };
}

const isListed = (view: unknown): view is ListedRun & Partial<ListedStatus> =>
  typeof view === 'object' && view !== null && 'as' in view && view.as === 1 && 'graph' in view;

/** A graph as its run has recorded it: no program is asked. */
export interface GraphView {
  /** Every node there is, in the order of their names. */
  readonly nodes: readonly GraphNode[];
  /** The ways that were gone. What `Send` began is not among them. */
  readonly edges: readonly GraphEdge[];
  /** Nodes that are to be visited next, or are being visited; empty at an end. */
  readonly next: readonly string[];
}

export interface GraphNode {
  readonly name: string;
  /** What is asked before it runs, by declaration; `null` for nothing. */
  readonly gate: HitlSessionKind | null;
  /** Visits that came to an end. */
  readonly visits: number;
  /** ISO 8601, UTC: the end of the last visit. */
  readonly lastAt: string | null;
}

export interface GraphEdge {
  /** `null` for the start. */
  readonly from: string | null;
  readonly to: string;
  readonly times: number;
}

type GraphViewStores = Pick<EngineStore, 'threads' | 'log' | 'checkpoints'>;

/** @param next - As its latest checkpoint tells it. */
export function graphView(threadId: string, next: readonly string[], stores: GraphViewStores): GraphView {
  const { threads, log, checkpoints } = stores;
  const shape = recordedShape(threads.require(threadId));
  const visited = new Map(log.visitsOf(threadId).map((visits) => [visits.node, visits]));
  const edges = checkpoints.callsOf(threadId).flatMap(({ taskPath, channel, times }) => {
    const from = /^~__pregel_pull, (.+)$/s.exec(taskPath)?.[1];
    const to = TRIGGER.exec(channel)?.groups?.['node'];
    return from === undefined || to === undefined
      ? []
      : [{ from: from === '__start__' ? null : from, to, times }];
  });
  const named = edges.flatMap(({ from, to }) => [...(from === null ? [] : [from]), to]);
  const names = new Set([...(shape?.nodes ?? [...visited.keys(), ...named]), ...next]);
  return {
    nodes: [...names].sort().map((name) => {
      const { visits = 0, lastAt } = visited.get(name) ?? {};
      const last = lastAt === undefined ? null : new Date(lastAt).toISOString();
      return { name, gate: shape?.gates[name] ?? null, visits, lastAt: last };
    }),
    edges: edges.filter(({ from, to }) => names.has(to) && (from === null || names.has(from))),
    next,
  };
}
