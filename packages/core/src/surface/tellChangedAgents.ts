import type { EngineStore } from '../engine/EngineStore.ts';
import type { StageAgents } from '../orchestration/ports.ts';
import { type AgentsIdentity, identityOf, identityWords } from './agentsIdentity.ts';

/** Whoever reads the log later knows whose answers they are from here on. */
export function tellChangedAgents(threadId: string, agents: StageAgents, store: EngineStore): void {
  const { agents: recorded = null } = store.threads.require(threadId).policies;
  if (recorded === null) return;
  const payload = {
    started: identityWords(recorded as AgentsIdentity),
    now: identityWords(identityOf(agents)),
  };
  if (payload.started !== payload.now) store.commit((emit) => emit('AGENTS_CHANGED', payload, { threadId }));
}
