import type { EventBus, EventName, OrchestratorEvents } from '@devs/core';
import { eventStyle } from '../render/eventStyle.ts';
import { sentence, taskLabelOrEmpty } from '../render/sentence.ts';
import { linesAtGate, styled } from '../terminal/Line.ts';
import type { Output } from '../terminal/Output.ts';

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
