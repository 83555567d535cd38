import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession, HitlSessionKind, Principal } from '../../state/hitlSession.ts';
import type { Policies, Thread } from '../../state/ThreadStore.ts';

/** The name a policy knows a gate by; other kinds go by their own. */
const POLICY_NAMES: Partial<Record<HitlSessionKind, string>> = {
  design_approval: 'design',
  dag_approval: 'dag',
};

/**
 * Agents may not decide; a policy only what the run declared at its start as `gates: { <name>: 'auto' }` (laws L2, L8).
 *
 * @param thread - The session's run, where it has one.
 * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`
 * @throws TypeError if it is no principal at all.
 */
export function assertMayDecide(by: Principal, session: HitlSession, thread: Thread | null): void {
  if (typeof by?.id !== 'string' || by.id === '') throw new TypeError('Expected a principal with an id.');
  switch (by.kind) {
    case 'human':
      return;
    case 'policy':
      if (isDeclaredAuto(thread?.policies, session.kind)) return;
      throw notDeclared(session);
    case 'agent':
      throw refuseAgent(session);
    default:
      throw new TypeError(`Expected a principal of kind human, policy or agent, got "${String(by.kind)}".`);
  }
}

/**
 * Some things no policy can be declared for: only a human may do them.
 *
 * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`
 * @throws TypeError if it is no principal at all.
 */
export function assertHuman(by: Principal, threadId: string, deed: string): void {
  if (typeof by?.id !== 'string' || by.id === '') throw new TypeError('Expected a principal with an id.');
  if (by.kind === 'human') return;
  const isAgent = by.kind === 'agent';
  throw new DevsError(`${isAgent ? 'An agent' : 'A policy'} may not ${deed} run "${threadId}".`, {
    code: isAgent ? 'AGENT_MAY_NOT_DECIDE' : 'POLICY_NOT_DECLARED',
    remedy: 'Ask a human to do it.',
    context: { threadId },
  });
}

/** Guards ask because something went wrong: nothing declared beforehand may answer them. */
const GUARDS: ReadonlySet<HitlSessionKind> = new Set(['task_failure', 'recursion_limit', 'budget']);

/** Whether a run declared at its start that gates of this kind are approved without a human. */
export function isDeclaredAuto(policies: Policies | undefined, kind: HitlSessionKind): boolean {
  if (GUARDS.has(kind)) return false;
  const gates = ownValue(policies, 'gates');
  return ownValue(gates, POLICY_NAMES[kind] ?? kind) === 'auto';
}

function ownValue(object: unknown, key: string): unknown {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, key)) return undefined;
  return (object as Readonly<Record<string, unknown>>)[key];
}

function notDeclared({ id, kind }: HitlSession): DevsError {
  return new DevsError(`The run of session "${id}" declares no policy for gates of kind ${kind}.`, {
    code: 'POLICY_NOT_DECLARED',
    remedy: 'Let a human decide, or start the run with a policy for this gate.',
    context: { sessionId: id, kind },
  });
}

function refuseAgent({ id, kind }: HitlSession): DevsError {
  return new DevsError(`An agent may not decide session "${id}".`, {
    code: 'AGENT_MAY_NOT_DECIDE',
    remedy: 'Ask a human to read and decide it.',
    context: { sessionId: id, kind },
  });
}
