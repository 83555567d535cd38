import type { EngineStore } from '../EngineStore.ts';
import type { Visit } from '../visit.ts';

/**
 * Whether a human has answered a question of this super-step: at an entry, inside a node, about the budget of a call.
 * Decisions are kept, so every execution of the visit reads the same.
 */
export function humanDecided({ threadId, checkpointId }: Visit, store: EngineStore | null): boolean {
  if (store === null || checkpointId === null) return false;
  return store.sessions.hasHumanDecisionAt(threadId, checkpointId);
}
