import type { ClosedGate, GraphState, PipelineRunInfo, Run } from '@devs/core';
import type { ErrorView } from '../http/errors.ts';
import type { ReadableRun } from '../state/RunsPlace.ts';
import { gateLabel } from './choices.ts';
import { type CommitLine, commitsView } from './commitsView.ts';
import { type GateFacts, gateFacts } from './gateFacts.ts';
import { askedTasks, type GateLine, inboxGateLine } from './inboxView.ts';
import { type Stop, stopsOf } from './stopView.ts';

export interface PastGateLine extends GateLine, Pick<ClosedGate, 'status' | 'principal' | 'decidedAt'> {
  /** Such as `approved`; `null` where nobody decided. */
  readonly said: string | null;
}

/** Everything about a run but what its gates show, its timeline, its log and its checkpoints. */
export interface RunView extends Omit<PipelineRunInfo, 'gates' | 'tasks'> {
  readonly tasks: readonly PlannedTask[];
  readonly gates: readonly (GateLine & GateFacts)[];
  /** Oldest first. */
  readonly past: readonly PastGateLine[];
  /** Newest first. */
  readonly commits: readonly CommitLine[];
  readonly spending: SpendingView;
  /** How the run can be stopped now. */
  readonly stops: readonly Stop[];
}

/** As the page gets it. */
export interface ShownRunView extends RunView {
  /** Why this page's last execution of it ended; `null` where it ended well. */
  readonly failure: ErrorView | null;
  /** `null` before commits lie on it, and without `readBranch`. */
  readonly branch: RunBranch | null;
}

/** The branch of a run in the repository of a person, with its commits on it. */
export interface RunBranch {
  readonly name: string;
  /** The command that merges it, or opens its pull request. */
  readonly merge: string;
}

export type ReadBranch = (run: string) => Promise<RunBranch | null>;

export async function runView(run: ReadableRun): Promise<RunView> {
  const { gates, tasks, ...status } = await run.status();
  const [past, steps] = [await run.closedGates(), await run.steps()];
  return {
    ...status,
    tasks: planView({ tasks, gates }, await run.state(), steps),
    gates: gates.map((gate) => ({ ...inboxGateLine(gate), ...gateFacts(gate, tasks) })),
    past: past.map(pastGate),
    commits: commitsView(tasks, gates, past),
    spending: spendingView(steps),
    stops: stopsOf(status),
  };
}

function pastGate(gate: ClosedGate): PastGateLine {
  const { status, principal, decidedAt } = gate;
  return { ...inboxGateLine(gate), status, principal, decidedAt, said: decisionFeedback(gate) };
}

function decisionFeedback({ kind, decision }: ClosedGate): string | null {
  if (typeof decision !== 'object' || decision === null) return null;
  const { approved, action } = decision as { readonly approved?: unknown; readonly action?: unknown };
  if (typeof action === 'string') {
    return gateLabel(kind).choices.find(({ name }) => name === action)?.label ?? action;
  }
  return approved === undefined ? 'answered' : approved === true ? 'approved' : 'sent back';
}

type Task = PipelineRunInfo['tasks'][number];

/** A task as the picture of a plan has it. */
export interface PlannedTask extends Task {
  /** Ids of the tasks it stands on. */
  readonly dependsOn: readonly string[];
  /** Name of its epic. */
  readonly epic: string | null;
  /** ISO 8601, UTC: when its last step ended; `null` before it is completed. */
  readonly endedAt: string | null;
  /** An open gate is about it. */
  readonly waits: boolean;
}

type Steps = Awaited<ReturnType<Run['steps']>>;

/** The plan of a run; empty before there is one, and in a run of an own graph. */
function planView(
  { tasks, gates }: Pick<PipelineRunInfo, 'tasks' | 'gates'>,
  state: GraphState | null,
  steps: Steps,
): readonly PlannedTask[] {
  const records = new Map((state?.tasks ?? []).map((task) => [task.taskId, task]));
  const epics = new Map((state?.epics ?? []).map(({ epicId, name }) => [epicId, name]));
  const ends = lastEnds(steps);
  return tasks.map((task) => {
    const { dependsOn = [], epicId = '' } = records.get(task.taskId) ?? {};
    const endedAt = task.status === 'completed' ? (ends.get(task.taskId) ?? null) : null;
    const waits = gates.some((gate) => askedTasks(gate).includes(task.taskId));
    return { ...task, dependsOn, epic: epics.get(epicId) ?? null, endedAt, waits };
  });
}

function lastEnds(steps: Steps): ReadonlyMap<string, string> {
  const ends = new Map<string, string>();
  for (const { taskId, finishedAt } of steps) {
    if (taskId === null || finishedAt === null) continue;
    const known = ends.get(taskId);
    if (known === undefined || known < finishedAt) ends.set(taskId, finishedAt);
  }
  return ends;
}

/** What a part of a run has used. */
export interface Spent {
  readonly name: string;
  readonly cost: PipelineRunInfo['cost'];
}

/** What a run has used, told in two ways: each adds up to the cost of the run. */
interface SpendingView {
  /** By what was done, such as `implement`: the dearest first. */
  readonly stages: readonly Spent[];
  /** By task, in the order in which they began; `run` for what is of none. */
  readonly tasks: readonly Spent[];
}

export function spendingView(steps: Steps): SpendingView {
  return {
    // The step of a person's question is named by it.
    stages: [...sums(steps, ({ name, node }) => (node === 'ask' ? node : name))].sort(dearestFirst),
    tasks: sums(steps, ({ task }) => task ?? 'run'),
  };
}

function sums(steps: Steps, partOf: (step: Steps[number]) => string): readonly Spent[] {
  const parts = new Map<string, PipelineRunInfo['cost']>();
  for (const step of steps) {
    const before = parts.get(partOf(step));
    parts.set(partOf(step), before === undefined ? step.cost : addCosts(before, step.cost));
  }
  return [...parts].filter(([, cost]) => !isZeroCost(cost)).map(([name, cost]) => ({ name, cost }));
}

const addCosts = (a: PipelineRunInfo['cost'], b: PipelineRunInfo['cost']): PipelineRunInfo['cost'] => ({
  tokensIn: a.tokensIn + b.tokensIn,
  tokensOut: a.tokensOut + b.tokensOut,
  costUsd: a.costUsd + b.costUsd,
  calls: a.calls + b.calls,
  requests: a.requests + b.requests,
  unpriced: a.unpriced + b.unpriced,
});

const isZeroCost = (cost: PipelineRunInfo['cost']): boolean =>
  Object.values(cost).every((figure) => figure === 0);

const dearestFirst = (a: Spent, b: Spent): number =>
  b.cost.costUsd - a.cost.costUsd || totalTokens(b.cost) - totalTokens(a.cost);

const totalTokens = ({ tokensIn, tokensOut }: PipelineRunInfo['cost']): number => tokensIn + tokensOut;
