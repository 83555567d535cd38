import type { EventBus, PipelineRunInfo, Run } from '@devs/core';
import type { ActivityListener } from '@devs/core/internal';
import { formatCurrent } from '../render/activityLines.ts';
import { clock, formatDoing } from '../render/renderStatus.ts';
import { taskLabelOrEmpty } from '../render/sentence.ts';
import type { Output } from '../terminal/Output.ts';

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
 * out, and the depth guard until half of its limit is reached.
 */
export function statusLine({ node, taskId, now, turn, depth, cost }: LiveStatus, elapsedMs: number): string {
  const tokens = cost.tokensIn + cost.tokensOut;
  const parts = [
    taskLabelOrEmpty(taskId),
    now == null ? formatDoing(node, null) : `${nowIn(now)}  ${clock(now.ms)}`,
    turn === 0 ? '' : `turn ${turn}`,
    depth === null || depth.current * 2 < depth.limit
      ? ''
      : `${depth.current} of ${depth.limit} steps without progress`,
    `total ${clock(elapsedMs)}`,
    tokens === 0 ? '' : `${tokens} tokens`,
    cost.costUsd === 0 ? '' : `$${cost.costUsd.toFixed(2)}`,
  ];
  return parts.filter((part) => part !== '').join('  ');
}

function nowIn({ step, words }: NonNullable<LiveStatus['now']>): string {
  const doing = formatDoing('', step);
  return words === step || words === '' ? doing : `${doing}: ${words}`;
}

const REDRAW_MS = 1_000;

/** Where no line can be drawn again, one is printed when there was none for so long. */
const SILENCE_MS = 30_000;

const NO_COST: PipelineRunInfo['cost'] = { tokensIn: 0, tokensOut: 0, costUsd: 0, calls: 0, unpriced: 0 };
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
    status && statusLine(atWork(status, step, words), performance.now() - start);
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
