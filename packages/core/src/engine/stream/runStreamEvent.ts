import type { NewStreamEvent } from '../../state/events/StreamStore.ts';

/** What a run waits for, or how it has ended. */
export type RunStreamEvent = NewStreamEvent & { readonly mode: 'gate' | 'end' };

/** Told once, however often the run is driven while it waits. */
export function gateOpened(sessionId: string): RunStreamEvent {
  return {
    mode: 'gate',
    ns: '',
    once: { scope: `gate ${sessionId}`, ordinal: 0 },
    body: { refers: { sessionId } },
  };
}

export function runEnded(status: string, reason: string | null): RunStreamEvent {
  return { mode: 'end', ns: '', body: { refers: { status, reason } } };
}
