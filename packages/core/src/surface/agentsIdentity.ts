import type { EngineStore } from '../engine/gates/EngineStore.ts';
import { DevsError } from '../errors/DevsError.ts';
import type { PipelinePorts, Provenance, StageAgents } from '../orchestration/ports.ts';
import type { ThreadStore } from '../state/threads/ThreadStore.ts';

/** Which agents a run was started with; part of its record. */
export interface AgentsIdentity {
  readonly name: string;
  readonly provenance: Provenance;
  /** What else shapes their answers, such as the version and hash of their prompts. */
  readonly fingerprint?: string;
}

export function agentsIdentityOf({ name, provenance, fingerprint }: StageAgents): AgentsIdentity {
  return { name, provenance, ...(fingerprint !== undefined && { fingerprint }) };
}

/** One line: `openai:gpt-5 (live; prompts v1 1a2b3c4d5e6f)`. Equal words are equal agents. */
function formatIdentity({ name, provenance, fingerprint }: AgentsIdentity): string {
  return `${name} (${fingerprint === undefined ? provenance : `${provenance}; ${fingerprint}`})`;
}

/** As a run's record has them; `null` of one that was started without. */
export function recordedAgents(
  id: string,
  { threads }: { readonly threads: ThreadStore },
): AgentsIdentity | null {
  const { agents = null } = threads.require(id).policies;
  return agents as AgentsIdentity | null;
}

/** Whoever reads the log later knows whose answers they are from here on. */
export function tellChangedAgents(threadId: string, agents: StageAgents, store: EngineStore): void {
  const { agents: recorded = null } = store.threads.require(threadId).policies;
  if (recorded === null) return;
  const payload = {
    started: formatIdentity(recorded as AgentsIdentity),
    now: formatIdentity(agentsIdentityOf(agents)),
  };
  if (payload.started !== payload.now) store.commit((emit) => emit('AGENTS_CHANGED', payload, { threadId }));
}

/** A run's record, and the agents of this process. */
interface AgentsOfRun {
  readonly app: { readonly store: { readonly threads: ThreadStore } };
  readonly pipeline: PipelinePorts | null;
}

/** @throws DevsError `CONFIG_INVALID` for a run that was started with agents, where none are given. */
export function assertAgents(id: string, { app, pipeline }: AgentsOfRun): void {
  if (recordedAgents(id, app.store) !== null) requirePipeline(id, pipeline);
}

/** @throws DevsError `CONFIG_INVALID` where none are given. */
export function requirePipeline(id: string, pipeline: PipelinePorts | null): PipelinePorts {
  if (pipeline !== null) return pipeline;
  throw new DevsError(`Run "${id}" was started with agents, but no agents are set now.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Open the orchestrator with the agents, workspace and checks that the run was started with.',
    context: { threadId: id },
  });
}
