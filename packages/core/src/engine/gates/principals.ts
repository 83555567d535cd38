// Principals: humans, policies and agents. One person, one vote: two spellings of an id that read the same are the same
// person. The record keeps each id as it was given. Look-alikes of other alphabets (Cyrillic а, Greek ο) stay different
// people.

import { DevsError } from '../../errors/DevsError.ts';
import type { Principal } from '../../state/gates/hitlSession.ts';

export type { Principal };

/**
 * Who somebody says that they are, read once: what is checked is what is recorded, whatever the object says next time.
 *
 * @throws TypeError for a value that is not a principal.
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
 * Some things no policy can be declared for: only a human may do them.
 *
 * @returns That human, read once.
 * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`
 * @throws TypeError for a value that is not a principal.
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

/** `human:reviewer-1` */
export function principalText({ kind, id }: Principal): string {
  return `${kind}:${id}`;
}

/** Whether two ids name one person: compatibility forms (full width, NFD) and case are no difference. */
export function isSameId(a: string, b: string): boolean {
  return a === b || foldId(a) === foldId(b);
}

/** As {@link isSameId}, of people; ids of policies and agents are compared as they are. */
export function isSamePrincipal(a: Principal, b: Principal): boolean {
  if (a.kind !== b.kind) return false;
  return a.kind === 'human' ? isSameId(a.id, b.id) : a.id === b.id;
}

/** The first id that names somebody who is named before it; `undefined` where all are different people. */
export function namedTwice(ids: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return ids.find((id) => seen.size === seen.add(foldId(id)).size);
}

/** Upper case first: `ß` and `ss`, `ς` and `σ` are one letter each to Unicode, and to nothing in JavaScript. */
function foldId(id: string): string {
  return id.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

/** @throws DevsError `INVALID_PRINCIPAL` for an id that a reader would take for another one. */
export function assertPersonId(id: string): void {
  const why = flawOf(id);
  if (why === null) return;
  throw new DevsError(`${JSON.stringify(id)} is not a valid id of a person: ${why}.`, {
    code: 'INVALID_PRINCIPAL',
    remedy: 'Use a login name or an address, such as ada or ada@example.org.',
    context: { id },
  });
}

/** What a reader cannot see in an id. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** An id that reads as another principal in a log, where principals stand as `human:ada`. */
const AS_PRINCIPAL = /^(?:human|policy|agent)\s*:/;

function flawOf(id: string): string | null {
  if (UNSEEN.test(id)) return 'it has invisible characters';
  if (id.trim() !== id) return 'it starts or ends with white space';
  return AS_PRINCIPAL.test(foldId(id)) ? 'it starts with a principal kind' : null;
}
