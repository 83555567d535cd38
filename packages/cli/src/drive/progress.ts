import type { Activity, EventBus, EventName, OrchestratorEvents, PipelineRunInfo, Run } from '@devs/core';
import type { ActivityListener } from '@devs/core/internal';
import { activityLines, formatCurrent, formatUsage } from '../render/activityLines.ts';
import { clock, formatDoing } from '../render/renderStatus.ts';
import { eventStyle, sentence, taskLabelOrEmpty } from '../render/sentence.ts';
import { displayWidth, splitByWidth } from '../terminal/displayWidth.ts';
import { type Line, linesAtGate, styled } from '../terminal/Line.ts';
import type { Output } from '../terminal/Output.ts';
import { oneLine } from '../terminal/visible.ts';

/** What the command says anyway, better: at its end, or where a gate is shown. */
const LEFT_OUT: ReadonlySet<EventName> = new Set([
  'HITL_SESSION_OPENED',
  'GATE_SHOWN',
  'GATE_REVEALED',
  'RUN_SUSPENDED',
  'RUN_FINISHED',
]);

/** Who decides here is told so; what a policy decides is told nowhere else. */
function isOwnDecision<Name extends EventName>(name: Name, payload: OrchestratorEvents[Name]): boolean {
  if (name !== 'HITL_SESSION_DECIDED') return false;
  return (payload as OrchestratorEvents['HITL_SESSION_DECIDED']).principal.startsWith('human:');
}

/** One event as a line, `elapsedMs` after the start; `null` when there is nothing to tell. */
export function progressLine<Name extends EventName>(
  name: Name,
  payload: OrchestratorEvents[Name],
  { taskId }: NonNullable<Parameters<EventBus['emit']>[2]>,
  elapsedMs: number,
): string | null {
  const isSaid = LEFT_OUT.has(name) || isOwnDecision(name, payload);
  const text = isSaid ? null : sentence(name, payload);
  if (text === null) return null;
  const seconds = `${(elapsedMs / 1000).toFixed(1)}s`.padStart(7);
  return [seconds, taskLabelOrEmpty(taskId), text].filter((part) => part !== '').join('  ');
}

/** Prints what happens while it happens; call the returned function to stop. */
export function showProgress(events: EventBus, out: Output): () => void {
  const start = performance.now();
  return events.onAny((name, payload, scope) => {
    const line = progressLine(name, payload, scope, performance.now() - start);
    if (line === null) return;
    const lines = [styled(eventStyle(name) ?? 'row', line)];
    out.print(...(name === 'AGENT_ASKED' ? linesAtGate(lines) : lines));
  });
}

/** Tools that are named in a line. */
const MAX_NAMED = 6;

/**
 * Prints each answered request of an agent as a line, with the tools it used and what the stage has spent so far: a long
 * stage would leave nothing in the story without it. Call the returned function to stop.
 */
export function showRequests(events: Pick<EventBus, 'onActivity'>, out: Output): () => void {
  let step: AskedStep | null = null;
  return events.onActivity((activity, scope) => {
    if (activity.kind !== 'tool' && activity.kind !== 'usage') return;
    if (step?.isOf(scope) !== true) step = new AskedStep(scope);
    const text = step.take(activity);
    if (text !== null) out.print({ style: 'dim', text: `         ${text}` });
  });
}

class AskedStep {
  readonly #scope: Parameters<ActivityListener>[1];
  #requests = 0;
  /** By id: an agent may say its name again, and better. */
  readonly #tools = new Map<string, string>();
  #spent = '';

  constructor(scope: Parameters<ActivityListener>[1]) {
    this.#scope = scope;
  }

  isOf({ taskId, step, attempt, since }: Parameters<ActivityListener>[1]): boolean {
    const mine = this.#scope;
    return taskId === mine.taskId && step === mine.step && attempt === mine.attempt && since === mine.since;
  }

  take(activity: Extract<Activity, { readonly kind: 'tool' | 'usage' }>): string | null {
    if (activity.kind === 'tool') {
      if (activity.state === 'started') this.#tools.set(activity.id, activity.name);
      return null;
    }
    const spent = formatUsage(activity.usage);
    // Agents may say the same again.
    if (spent === this.#spent && this.#tools.size === 0) return null;
    this.#spent = spent;
    this.#requests += 1;
    const tools = formatTools([...this.#tools.values()]);
    this.#tools.clear();
    return `${this.#scope.step} ${this.#requests}: ${tools} (${spent})`;
  }
}

function formatTools(names: readonly string[]): string {
  const tools = names.map(oneLine);
  if (tools.length === 0) return 'text';
  const more = tools.length - MAX_NAMED;
  return tools.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Prints all that agents, checks and setup tell, as it comes; call the returned function to stop. */
export function showActivities(events: Pick<EventBus, 'onActivity'>, out: Output): () => void {
  return events.onActivity((activity) => {
    out.print(
      ...activityLines(activity).map(
        (line): Line => (typeof line === 'string' ? { style: 'dim', text: line } : line),
      ),
    );
  });
}

/** What a drive is doing right now. */
export interface LiveStatus {
  readonly node: string;
  readonly taskId: string | null;
  /** The step in it, what happens there in a few words, and for how long in milliseconds. */
  readonly now?: { readonly step: string; readonly words: string; readonly ms: number } | null;
  /** Turns on the task so far. */
  readonly turn: number;
  /** `null` as long as it was not read. */
  readonly depth: Awaited<ReturnType<Run['recursionDepth']>> | null;
  readonly cost: PipelineRunInfo['cost'];
}

/**
 * `T3  reviewing the code: reading src/x.ts  0:42  turn 2  total 1:05  12345 tokens  $0.42`; what is nothing yet is left
 * out, and the depth guard until half of its limit is reached. On a narrow terminal, the current activity is cut.
 *
 * @param columns - Of the terminal.
 */
export function statusLine(
  { node, taskId, now, turn, depth, cost }: LiveStatus,
  elapsedMs: number,
  columns: number = Number.POSITIVE_INFINITY,
): string {
  const tokens = cost.tokensIn + cost.tokensOut;
  const doing = now == null ? formatDoing(node, null) : nowIn(now);
  const task = taskLabelOrEmpty(taskId);
  const parts = [
    now == null ? '' : clock(now.ms),
    turn === 0 ? '' : `turn ${turn}`,
    depth === null || depth.current * 2 < depth.limit
      ? ''
      : `${depth.current} of ${depth.limit} steps without progress`,
    `total ${clock(elapsedMs)}`,
    tokens === 0 ? '' : `${tokens} tokens`,
    cost.costUsd === 0 ? '' : `$${cost.costUsd.toFixed(2)}`,
  ];
  const around = [task, ...parts].filter((part) => part !== '').join('  ');
  const room = Math.max(MIN_DOING, columns - displayWidth(around) - 3);
  return [task, cutToWidth(doing, room), ...parts].filter((part) => part !== '').join('  ');
}

/** Least columns of the current activity. */
const MIN_DOING = 12;

function cutToWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  const [cut = ''] = splitByWidth(text, columns - 1);
  return `${cut.trimEnd()}…`;
}

function nowIn({ step, words }: NonNullable<LiveStatus['now']>): string {
  const doing = formatDoing('', step);
  return words === step || words === '' ? doing : `${doing}: ${words}`;
}

const REDRAW_MS = 1_000;

/** Where no line can be drawn again, one is printed when there was none for so long. */
const SILENCE_MS = 30_000;

const NO_COST: PipelineRunInfo['cost'] = {
  tokensIn: 0,
  tokensOut: 0,
  costUsd: 0,
  calls: 0,
  requests: 0,
  unpriced: 0,
};

const STARTING: LiveStatus = { node: 'starting', taskId: null, turn: 0, depth: null, cost: NO_COST };

type Looked = Pick<Run, 'id' | 'state' | 'recursionDepth' | 'status'>;

export interface StatusLineOptions {
  readonly out: Output;
  /** Whether the drive stays at gates, where nothing runs; else it goes on to deliver. */
  readonly stays: boolean;
}

/**
 * Keeps one line up to date below the story, on a terminal; elsewhere the line is printed when nothing else was for half a
 * minute. Call the returned function when the drive is over to remove it.
 */
export function showStatusLine(run: Looked, events: EventBus, { out, stays }: StatusLineOptions): () => void {
  if (out.json) return () => {};
  const start = performance.now();
  let status: LiveStatus | null = STARTING;
  let step: Parameters<ActivityListener>[1] | null = null;
  let words = '';
  const line = (): string | null =>
    status && statusLine(atWork(status, step, words), performance.now() - start, out.columns);
  const draw = (): void => {
    if (out.isLive) out.live(line());
    else if (performance.now() - out.lastAt >= SILENCE_MS) out.print(...[line() ?? []].flat());
  };
  const { look, overtake } = latestLook(run, (found) => {
    status = found;
    draw();
  });
  const note: ActivityListener = (activity, scope) => {
    if (scope.threadId !== run.id) return;
    words = formatCurrent(activity) ?? (step?.step === scope.step ? words : scope.step);
    step = scope;
    status ??= STARTING;
  };
  const stops = [
    events.on('NODE_STARTED', ({ node }, { taskId = null }) => {
      step = null;
      status = { ...(status ?? STARTING), node, taskId };
      void look(node);
    }),
    events.on('STEP_FINISHED', ({ node }) => {
      step = null;
      void look(node);
    }),
    events.on('RUN_SUSPENDED', () => {
      overtake();
      step = null;
      status = stays ? null : { ...(status ?? STARTING), node: 'deliver', taskId: null };
      draw();
    }),
    events.onActivity(note),
  ];
  draw();
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  return () => {
    overtake();
    clearInterval(timer);
    for (const stop of stops) stop();
    out.live(null);
  };
}

/** Looks at the state file; what something newer has overtaken is not shown. */
function latestLook(run: Looked, show: (found: LiveStatus) => void) {
  let newest = 0;
  const overtake = (): void => {
    newest += 1;
  };
  const look = async (node: string): Promise<void> => {
    overtake();
    const mine = newest;
    const found = await lookAt(run, node).catch(() => null);
    if (mine === newest && found !== null) show(found);
  };
  return { look, overtake };
}

/** The state file knows the task of the last checkpoint; the step that runs may be of the next one, with no turn yet. */
function atWork(status: LiveStatus, step: Parameters<ActivityListener>[1] | null, words: string): LiveStatus {
  if (step === null) return status;
  const { node, taskId } = step;
  const now = { step: step.step, words, ms: Date.now() - step.since };
  return { ...status, node, taskId, turn: taskId === status.taskId ? status.turn : 0, now };
}

/** Read from the state file; a line that cannot be drawn is no reason to stop. */
async function lookAt(run: Looked, node: string): Promise<LiveStatus> {
  const [state, depth, { cost }] = [await run.state(), await run.recursionDepth(), await run.status()];
  return {
    node,
    taskId: state?.activeTaskId ?? null,
    turn: state?.implementationTurns ?? 0,
    depth,
    cost,
  };
}
