import type { HitlSession } from '../state/gates/hitlSession.ts';
import type { EngineStore } from './EngineStore.ts';
import { gateTimes } from './gates/deadlines.ts';
import { type Gate, gateOf } from './gates/Gate.ts';

type GateStores = Pick<EngineStore, 'sessions' | 'waits'>;

/** A gate with what its deadlines say at this moment. */
export const gateWithDeadlines = (session: HitlSession, { waits }: Pick<GateStores, 'waits'>): Gate => ({
  ...gateOf(session),
  ...gateTimes(session, waits),
});

/** The questions a run waits for, oldest first. */
export const gatesOf = (threadId: string, stores: GateStores): readonly Gate[] =>
  stores.sessions.listOpen(threadId).map((session) => gateWithDeadlines(session, stores));
