import type { HitlSession } from '../state/hitlSession.ts';
import type { EngineStore } from './EngineStore.ts';
import { type Gate, gateOf } from './Gate.ts';
import { gateTimes } from './gates/deadlines.ts';

type Stores = Pick<EngineStore, 'sessions' | 'waits'>;

/** A gate with what its deadlines say at this moment. */
export const gateNow = (session: HitlSession, { waits }: Pick<Stores, 'waits'>): Gate => ({
  ...gateOf(session),
  ...gateTimes(session, waits),
});

/** The questions a run waits for, oldest first. */
export const gatesOf = (threadId: string, stores: Stores): readonly Gate[] =>
  stores.sessions.listOpen(threadId).map((session) => gateNow(session, stores));
