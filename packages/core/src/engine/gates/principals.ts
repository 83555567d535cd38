import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession, Principal } from '../../state/hitlSession.ts';
import type { Policies, Thread } from '../../state/ThreadStore.ts';
import { allowsPlainYes } from './AnswerPolicy.ts';
import type { GateRule, GateRules } from './GateRule.ts';
import { assertPersonId } from './people.ts';

/**
 * Who somebody says that they are, read once: what is checked is what is recorded, whatever the object says next time.
 *
 * @throws TypeError if it is no principal at all.
 * @throws DevsError `INVALID_PRINCIPAL` for a human id that reads as another one.
 */
export function principalOf(by: Principal): Principal {
  const { kind, id } = (by as Partial<Principal> | null | undefined) ?? {};
  if (typeof id !== 'string' || id === '') throw new TypeError('Expected a principal with an id.');
  if (kind === 'human') assertPersonId(id);
  if (kind === 'human' || kind === 'policy' || kind === 'agent') return { kind, id };
  throw new TypeError(`Expected a principal of kind human, policy or agent, got "${String(kind)}".`);
}

/**
 * Agents may not decide; a policy only what the run declared at its start as `gates: { <name>: 'auto' }`, or of small work (laws L2, L8).
 *
 * @param by - As {@link principalOf} read it.
 * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`
 */
export function assertMayDecide(
  by: Principal,
  session: HitlSession,
  { rules, thread }: { readonly rules: GateRules; readonly thread: Thread | null },
): void {
  switch (by.kind) {
    case 'human':
      return;
    case 'policy':
      if (allowsPlainYes(session) && declaredPolicy(thread?.policies, rules[session.kind]) !== null) return;
      throw notDeclared(session);
    case 'agent':
      throw refuseAgent(session);
  }
}

/**
 * Some things no policy can be declared for: only a human may do them.
 *
 * @returns That human, read once.
 * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`
 * @throws TypeError if it is no principal at all.
 */
export function asHuman(by: Principal, threadId: string, deed: string): Principal {
  return onlyHuman(by, `${deed} run "${threadId}"`, { threadId });
}

/** As {@link asHuman}, of what is no one run's. */
export function onlyHuman(by: Principal, deed: string, context: DevsError['context'] = {}): Principal {
  const principal = principalOf(by);
  if (principal.kind === 'human') return principal;
  const isAgent = principal.kind === 'agent';
  throw new DevsError(`${isAgent ? 'An agent' : 'A policy'} cannot ${deed}.`, {
    code: isAgent ? 'AGENT_MAY_NOT_DECIDE' : 'POLICY_NOT_DECLARED',
    remedy: 'Ask a person to do it.',
    context,
  });
}

/** The policy that a run declared at its start for gates of this kind; `null` where a human decides. */
export function declaredPolicy(
  policies: Policies | undefined,
  rule: GateRule | undefined,
): 'auto' | 'quick' | null {
  const policyName = rule?.policyName ?? null;
  const declared = policyName === null ? null : ownValue(ownValue(policies, 'gates'), policyName);
  return declared === 'auto' || declared === 'quick' ? declared : null;
}

function ownValue(object: unknown, key: string): unknown {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, key)) return undefined;
  return (object as Readonly<Record<string, unknown>>)[key];
}

function notDeclared({ id, kind }: HitlSession): DevsError {
  return new DevsError(`The run of gate "${id}" has no policy for gates of kind ${kind}.`, {
    code: 'POLICY_NOT_DECLARED',
    remedy: 'Ask a person to decide, or start the run with a policy for this gate.',
    context: { sessionId: id, kind },
  });
}

function refuseAgent({ id, kind }: HitlSession): DevsError {
  return new DevsError(`An agent cannot decide gate "${id}".`, {
    code: 'AGENT_MAY_NOT_DECIDE',
    remedy: 'Ask a person to read and decide it.',
    context: { sessionId: id, kind },
  });
}
