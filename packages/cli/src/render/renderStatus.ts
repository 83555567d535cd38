import type { PipelineRunInfo } from '@devs/core';
import type { Session } from '../project/Session.ts';
import { columns, indentLine, type Line, type Style, styled } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import { nextCommands } from './nextCommands.ts';
import { formatBudget, formatCalls, formatUsd } from './renderBudget.ts';
import { gateLine } from './renderGate.ts';

/** Where a run stands, in words. A run that is driven by nobody does not run, whatever its last driver left. */
export function formatStatus({
  status,
  reason,
  driver,
  gates,
}: Pick<PipelineRunInfo, 'status' | 'reason' | 'driver' | 'gates'>): string {
  if (status === 'waiting') return gates.length > 0 ? 'waiting for a person' : formatWaiting(reason);
  if ((status === 'running' || status === 'paused') && driver === null) return 'stopped, can be resumed';
  return status === 'created' ? 'not started yet' : status;
}

/** Its driver left it with the reason: the gates that were open then, else what it waits for besides humans. */
function formatWaiting(reason: string | null): string {
  if (reason === null || /^\d+ open gate/.test(reason)) return 'decided, ready to resume';
  return oneLine(reason.startsWith('until ') ? `waiting ${reason}` : `waiting for ${reason}`);
}

/** What is over and well, what is over and not, and what somebody has to do something about. */
const STYLES: Readonly<
  Record<PipelineRunInfo['status'] | PipelineRunInfo['tasks'][number]['status'], Style | undefined>
> = {
  created: undefined,
  running: undefined,
  paused: undefined,
  waiting: 'due',
  completed: 'good',
  failed: 'bad',
  cancelled: 'bad',
  dead_letter: 'bad',
  pending: undefined,
  in_progress: undefined,
  resumed: undefined,
  blocked: 'due',
  skipped: 'due',
};

/** A run in the list of runs. */
interface StatusRow {
  readonly cells: readonly string[];
  readonly style: Style | undefined;
}

export const runRow = (run: PipelineRunInfo): StatusRow => ({
  cells: [
    run.id,
    formatStatus(run),
    doneOf(run.tasks),
    isNoCost(run.cost) && run.cost.unpriced === 0 ? '-' : formatMoney(run.cost),
    run.title,
  ],
  style: statusStyle(run),
});

/** Runs, one line each. */
export function runTable(runs: readonly StatusRow[]): readonly Line[] {
  const rows = runs.map(({ cells }) => cells);
  const [head = '', ...lines] = columns([['run', 'status', 'tasks', 'cost', 'title'], ...rows]);
  return [head, ...lines.map((text, at) => styled(runs[at]?.style, text))];
}

/** One run with its tasks and gates, and what can be done next. */
export function renderStatus(
  run: PipelineRunInfo,
  devs: Session['devs'],
  { spending = [], now = Date.now() }: { readonly spending?: readonly Line[]; readonly now?: number } = {},
): readonly Line[] {
  const { id, title, reason, workspace, tasks, gates, degraded } = run;
  const facts = [
    ['status', formatStatus(run)],
    ...(reason === null || run.status === 'waiting' ? [] : [['reason', reason]]),
    ['agents', formatAgents(run.agents)],
    ['used by', formatDriver(run)],
    ...(run.running === null ? [] : [['now', formatRunning(run.running, now)]]),
    ['folder', workspace ?? '-'],
    ['cost', formatCost(run.cost)],
    ...(run.review === null ? [] : [['review', formatReview(run.review)]]),
    ...(run.budget.length === 0 ? [] : [['budget', formatBudget(run.budget, run.cost)]]),
    ...rewindRow(run.rewinds),
    ['updated', run.updatedAt],
    ...(degraded ? [['journal', 'incomplete: entries were lost, the state is intact']] : []),
  ];
  return [
    { style: 'bold', text: oneLine(`${id}  ${title}`) },
    ...columns(facts).map((text, at) => indentLine(styled(at === 0 ? statusStyle(run) : undefined, text))),
    ...section(
      'tasks',
      columns(tasks.map(taskRow)).map((text, at) => styled(statusStyle(tasks[at]), text)),
    ),
    ...section('spent', spending),
    ...section('gates', columns(gates.map(gateLine))),
    ...nextCommands(run, devs).map(indentLine),
  ];
}

/** `slugify (scripted)`: whose words a run is made of. */
export function formatAgents(agents: PipelineRunInfo['agents']): string {
  return agents === null
    ? 'none: the stages run without writing anything'
    : `${agents.name} (${agents.provenance})`;
}

export function formatCost(cost: PipelineRunInfo['cost']): string {
  const { calls, requests, tokensIn, tokensOut, unpriced } = cost;
  const unknown = unpriced === 0 ? '' : `; cost unknown for ${formatCalls(unpriced)}`;
  if (isNoCost(cost)) return `none reported${unknown}`;
  const made = requests > calls ? `${formatCalls(calls)}, ${requests} requests` : formatCalls(calls);
  return `${made}, ${tokensIn} tokens in, ${tokensOut} out, ${formatMoney(cost)}${unknown}`;
}

/** What is not known is never shown as nothing. */
export function formatMoney({
  costUsd,
  unpriced,
}: Pick<PipelineRunInfo['cost'], 'costUsd' | 'unpriced'>): string {
  if (unpriced === 0) return formatUsd(costUsd);
  return costUsd === 0 ? 'unknown' : `at least ${formatUsd(costUsd)}`;
}

/** A call that failed, or runs again, has cost something before any has ended. */
const isNoCost = ({ calls, tokensIn, tokensOut, costUsd }: PipelineRunInfo['cost']): boolean =>
  calls === 0 && tokensIn === 0 && tokensOut === 0 && costUsd === 0;

/** How the code is reviewed, and how often it was. */
export function formatReview({ scope, approved, rejected }: NonNullable<PipelineRunInfo['review']>): string {
  return `after every ${scope}: ${approved} approved, ${rejected} rejected`;
}

/** `T3: reviewing the code, for 0:42`. */
function formatRunning(
  { node, task, step, since }: NonNullable<PipelineRunInfo['running']>,
  now: number,
): string {
  const where = task === null ? '' : `${task}: `;
  return `${where}${formatDoing(node, step)}, for ${clock(now - Date.parse(since))}`;
}

function formatDriver({ driver, status }: PipelineRunInfo): string {
  if (driver === null) return 'none';
  const process = `process ${driver.split(':')[0]}`;
  return status === 'running' ? `${process}; if it died, resume takes over` : process;
}

/** The last time it was set back; `devs explain` tells of all. */
function rewindRow(rewinds: readonly PipelineRunInfo['rewinds'][number][]): readonly (readonly string[])[] {
  const last = rewinds.at(-1);
  return last === undefined ? [] : [['rewound', formatRewind(last)]];
}

function doneOf(tasks: readonly PipelineRunInfo['tasks'][number][]): string {
  return tasks.length === 0
    ? '-'
    : `${tasks.filter(({ status }) => status === 'completed').length}/${tasks.length}`;
}

const taskRow = ({ label, status, gitHash, name }: PipelineRunInfo['tasks'][number]): readonly string[] => [
  label,
  status,
  gitHash?.slice(0, 7) ?? '-',
  name,
];

function section(name: string, lines: readonly Line[]): readonly Line[] {
  return lines.length === 0
    ? []
    : [{ style: 'dim', text: `  ${name}` }, ...lines.map((line) => indentLine(indentLine(line)))];
}

const statusStyle = (
  of: Pick<PipelineRunInfo | PipelineRunInfo['tasks'][number], 'status'> | undefined,
): Style | undefined => of && STYLES[of.status];

const STEPS = phraseMap({
  prepare: 'preparing the folder',
  base: 'reading the files',
  integrated: 'reading the files',
  changes: 'reading the files',
  instructions: 'reading instructions',
  baseline: 'running the baseline checks',
  research: 'writing the research',
  design: 'writing the design',
  designAgain: 'rewriting the design',
  distill: 'writing the plan',
  test: 'writing the test',
  red: 'running the new test before the code',
  before: 'running the checks before the work',
  implement: 'writing the code',
  document: 'writing documentation',
  green: 'running the tests',
  losses: 'comparing the tests',
  review: 'reviewing the code',
  pivot: 'choosing a new strategy',
  pivotAgain: 'choosing another new strategy',
  verify: 'running the checks',
  evidence: 'reading the evidence',
  command: 'running the command of the task',
  'command before': 'running the command of the task before the work',
  'red as left': 'running the new test before the code',
  message: 'writing the message of the commit',
  'hook pre-commit': 'running the pre-commit hook',
  'hook commit-msg': 'running the commit-msg hook',
  'hook commit-msg 2': 'running the commit-msg hook',
  commit: 'committing',
  deliver: 'delivering',
});

const NODES = phraseMap({
  approveDesign: 'design decision',
  distill: 'plan',
  approveTaskDag: 'plan decision',
  pivot_agent: 'new strategy',
  deliver: 'delivering the branch',
});

/** What a driver does, as people say it: its step, else the node; both by their names where they are somebody's own. */
export const formatDoing = (node: string, step: string | null): string =>
  step === null ? (NODES.get(node) ?? node) : (STEPS.get(step) ?? formatAgentChecks(step) ?? step);

/** Names the checks of an agent without the id of their tree. */
function formatAgentChecks(step: string): string | null {
  const [, stage] = /^(\w+): checks [0-9a-f]+$/.exec(step) ?? [];
  return stage === undefined ? null : `${STEPS.get(stage) ?? stage}: running the checks`;
}

function phraseMap(of: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(of));
}

const STATES: Readonly<Record<PipelineRunInfo['rewinds'][number]['state'], string>> = {
  done: '',
  undone: '; undone since',
  unfinished: '; files are updated at the next resume',
};

/** One time a run was set back, in words. */
export function formatRewind({
  target,
  undone,
  principal,
  reason,
  at,
  state,
}: PipelineRunInfo['rewinds'][number]): string {
  const when = `${at.slice(0, 19).replace('T', ' ')}Z`;
  const why = reason === null ? '' : `: ${reason}`;
  return `to ${target} by ${principal}, ${when}${why}; undone: ${undone.join(', ')}${STATES[state]}`;
}

/** Minutes and seconds. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
