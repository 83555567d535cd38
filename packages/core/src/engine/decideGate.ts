import type { HitlSession } from '../state/gates/hitlSession.ts';
import type { EngineStore } from './EngineStore.ts';
import type { Gate, GateAnswer } from './gates/Gate.ts';
import { assertFitsDeclared, type NamedGates } from './gates/parsedGates.ts';
import { principalOf } from './gates/principals.ts';

/** What a gate is decided with. */
export interface DecidingDeps {
  readonly store: EngineStore;
  /** What the program declares to be asked. @defaultValue nothing */
  readonly gates?: NamedGates | undefined;
}

/** An answer whose principal was read once: what is checked is what is recorded, here and elsewhere. */
export const readOnce = (answer: GateAnswer): GateAnswer => ({ ...answer, by: principalOf(answer.by) });

/** Records a decision on a gate that was read; see `DurableApp.decide`. */
export function decideGate(
  { sessionId, artifactHash }: Pick<Gate, 'sessionId' | 'artifactHash'>,
  { by, via, withHidden, ...answer }: GateAnswer,
  { store, gates }: DecidingDeps,
): HitlSession {
  assertFitsDeclared(store.sessions.find(sessionId), answer, gates);
  return store.manager.decide(sessionId, { artifactHash, answer, by, via, withHidden });
}
