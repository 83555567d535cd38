import type { EventBus, RecursionDepth, Run, RunCost } from '@devs/core';
import { taskLabel } from '../render/sentence.ts';
import type { Output } from '../terminal/Output.ts';

/** What a drive is doing right now. */
export interface LiveStatus {
  readonly node: string;
  readonly taskId: string | null;
  /** Turns on the active task. */
  readonly turn: number;
  readonly depth: RecursionDepth;
  readonly cost: RunCost;
}

/** `implement  T3  turn 2  depth 4/25  1:05  12345 tokens  $0.42`; what is nothing yet is left out. */
export function statusLine({ node, taskId, turn, depth, cost }: LiveStatus, elapsedMs: number): string {
  const tokens = cost.tokensIn + cost.tokensOut;
  const parts = [
    node,
    taskLabel(taskId),
    turn === 0 ? '' : `turn ${turn}`,
    `depth ${depth.current}/${depth.limit}`,
    clock(elapsedMs),
    tokens === 0 ? '' : `${tokens} tokens`,
    cost.costUsd === 0 ? '' : `$${cost.costUsd.toFixed(2)}`,
  ];
  return parts.filter((part) => part !== '').join('  ');
}

/** Minutes and seconds. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

const REDRAW_MS = 1_000;

/** Keeps one line up to date below the story, on a terminal; call the returned function to remove it. */
export function showStatusLine(run: Run, events: EventBus, out: Output): () => void {
  if (!out.isLive) return () => {};
  const start = performance.now();
  let status: LiveStatus | null = null;
  const draw = (): void => out.live(status === null ? null : statusLine(status, performance.now() - start));
  // A look that something newer has overtaken is not drawn.
  let newest = 0;
  const look = async (node: string): Promise<void> => {
    newest += 1;
    const mine = newest;
    const found = await lookAt(run, node).catch(() => null);
    if (mine !== newest || found === null) return;
    status = found;
    draw();
  };
  const stops = [
    events.on('NODE_STARTED', ({ node }) => void look(node)),
    events.on('STEP_FINISHED', ({ node }) => void look(node)),
    events.on('RUN_SUSPENDED', () => {
      newest += 1;
      status = null;
      draw();
    }),
  ];
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  return () => {
    newest += 1;
    clearInterval(timer);
    for (const stop of stops) stop();
    out.live(null);
  };
}

/** Read from the state file; a line that cannot be drawn is no reason to stop. */
async function lookAt(run: Run, node: string): Promise<LiveStatus> {
  const [state, depth, { cost }] = [await run.state(), await run.recursionDepth(), await run.status()];
  return {
    node,
    taskId: state?.activeTaskId ?? null,
    turn: state?.implementationTurns ?? 0,
    depth,
    cost,
  };
}
