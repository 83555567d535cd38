import type { PipelineRunInfo } from '@devs/core';
import type { Session } from '../project/Session.ts';
import { columns } from '../terminal/columns.ts';
import { indented, type Line, type Style, styled } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import { clock } from './clock.ts';
import { doingWords } from './doingWords.ts';
import { nextCommands } from './nextCommands.ts';
import { budgetWords, callsWords } from './renderBudget.ts';
import { gateLine } from './renderGate.ts';
import { rewindWords } from './rewindWords.ts';
import { usdWords } from './usdWords.ts';

/** Where a run stands, in words. A run that is driven by nobody does not run, whatever its last driver left. */
export function statusWords({
  status,
  reason,
  driver,
  gates,
}: Pick<PipelineRunInfo, 'status' | 'reason' | 'driver' | 'gates'>): string {
  if (status === 'waiting') return gates.length > 0 ? 'waiting for a person' : waitingWords(reason);
  if ((status === 'running' || status === 'paused') && driver === null) return 'stopped, can be resumed';
  return status === 'created' ? 'not started yet' : status;
}

/** Its driver left it with the reason: the gates that were open then, else what it waits for besides humans. */
function waitingWords(reason: string | null): string {
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
interface RunRow {
  readonly cells: readonly string[];
  readonly style: Style | undefined;
}

export const runRow = (run: PipelineRunInfo): RunRow => ({
  cells: [
    run.id,
    statusWords(run),
    doneOf(run.tasks),
    isNothing(run.cost) ? '-' : usdWords(run.cost.costUsd),
    run.title,
  ],
  style: statusStyle(run),
});

/** Runs, one line each. */
export function runTable(runs: readonly RunRow[]): readonly Line[] {
  const rows = runs.map(({ cells }) => cells);
  const [head = '', ...lines] = columns([['run', 'status', 'tasks', 'cost', 'title'], ...rows]);
  return [head, ...lines.map((text, at) => styled(runs[at]?.style, text))];
}

/** One run with its tasks and gates, and what can be done next. */
export function renderStatus(
  run: PipelineRunInfo,
  devs: Session['devs'],
  now: number = Date.now(),
): readonly Line[] {
  const { id, title, reason, workspace, tasks, gates, degraded } = run;
  const facts = [
    ['status', statusWords(run)],
    ...(reason === null || run.status === 'waiting' ? [] : [['reason', reason]]),
    ['agents', agentsWords(run.agents)],
    ['used by', driverWords(run)],
    ...(run.running === null ? [] : [['now', runningWords(run.running, now)]]),
    ['folder', workspace ?? '-'],
    ['cost', costWords(run.cost)],
    ...(run.review === null ? [] : [['review', reviewWords(run.review)]]),
    ...(run.budget.length === 0 ? [] : [['budget', budgetWords(run.budget)]]),
    ...rewindRow(run.rewinds),
    ['updated', run.updatedAt],
    ...(degraded ? [['journal', 'incomplete: entries were lost, the state is intact']] : []),
  ];
  return [
    { style: 'bold', text: oneLine(`${id}  ${title}`) },
    ...columns(facts).map((text, at) => indented(styled(at === 0 ? statusStyle(run) : undefined, text))),
    ...section(
      'tasks',
      columns(tasks.map(taskRow)).map((text, at) => styled(statusStyle(tasks[at]), text)),
    ),
    ...section('gates', columns(gates.map(gateLine))),
    ...nextCommands(run, devs).map(indented),
  ];
}

/** `slugify (scripted)`: whose words a run is made of. */
export function agentsWords(agents: PipelineRunInfo['agents']): string {
  return agents === null
    ? 'none: the stages run without writing anything'
    : `${agents.name} (${agents.provenance})`;
}

export function costWords(cost: PipelineRunInfo['cost']): string {
  const { calls, tokensIn, tokensOut, costUsd, unpriced } = cost;
  const unknown = unpriced === 0 ? '' : `; cost unknown for ${callsWords(unpriced)}`;
  if (isNothing(cost)) return `none reported${unknown}`;
  return `${callsWords(calls)}, ${tokensIn} tokens in, ${tokensOut} out, ${usdWords(costUsd)}${unknown}`;
}

/** A call that failed, or runs again, has cost something before any has ended. */
const isNothing = ({ calls, tokensIn, tokensOut, costUsd }: PipelineRunInfo['cost']): boolean =>
  calls === 0 && tokensIn === 0 && tokensOut === 0 && costUsd === 0;

/** How the code is reviewed, and how often it was. */
export function reviewWords({ scope, approved, rejected }: NonNullable<PipelineRunInfo['review']>): string {
  return `after every ${scope}: ${approved} approved, ${rejected} rejected`;
}

/** `T3: reviewing the code, for 0:42`. */
function runningWords(
  { node, task, step, since }: NonNullable<PipelineRunInfo['running']>,
  now: number,
): string {
  const where = task === null ? '' : `${task}: `;
  return `${where}${doingWords(node, step)}, for ${clock(now - Date.parse(since))}`;
}

function driverWords({ driver, status }: PipelineRunInfo): string {
  if (driver === null) return 'none';
  const process = `process ${driver.split(':')[0]}`;
  return status === 'running' ? `${process}; if it died, resume takes over` : process;
}

/** The last time it was set back; `devs explain` tells of all. */
function rewindRow(rewinds: readonly PipelineRunInfo['rewinds'][number][]): readonly (readonly string[])[] {
  const last = rewinds.at(-1);
  return last === undefined ? [] : [['rewound', rewindWords(last)]];
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
    : [{ style: 'dim', text: `  ${name}` }, ...lines.map((line) => indented(indented(line)))];
}

const statusStyle = (
  of: Pick<PipelineRunInfo | PipelineRunInfo['tasks'][number], 'status'> | undefined,
): Style | undefined => of && STYLES[of.status];
