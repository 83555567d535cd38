import type { Activity, EventBus, EventName, OrchestratorEvents } from '@devs/core';
import type { ActivityListener } from '@devs/core/internal';
import { activityLines, formatUsage } from '../render/activityLines.ts';
import { eventStyle, sentence, taskLabelOrEmpty } from '../render/sentence.ts';
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
