// Where a run stands, for the readers of its stream. Loads no LangGraph: what only reads a state file goes through here.

import { type NewStreamEvent, turnScope } from '../../state/events/StreamStore.ts';

/** A gate at which a run waits, its end, or the beginning of a turn. */
export type RunStreamEvent = NewStreamEvent & { readonly mode: 'gate' | 'end' | 'turn' };

/** Told once, however often the run is driven while it waits. */
export function gateOpened(sessionId: string): RunStreamEvent {
  return {
    mode: 'gate',
    ns: '',
    once: { scope: `gate ${sessionId}`, ordinal: 0 },
    body: { refers: { sessionId } },
  };
}

/** @param turn - Its key; `null` in a run without turns. */
export function runEnded(status: string, reason: string | null, turn: string | null = null): RunStreamEvent {
  return { mode: 'end', ns: '', body: { refers: { status, reason, ...(turn !== null && { turn }) } } };
}

export function turnBegun(turn: string): RunStreamEvent {
  return { mode: 'turn', ns: '', once: { scope: turnScope(turn), ordinal: 0 }, body: { refers: { turn } } };
}
