import { DevsError } from '../../errors/DevsError.ts';
import type { Principal } from '../../state/hitlSession.ts';

// One person, one vote: however an id is spelled, it is compared by what a reader takes it for. What is recorded stays
// as it was given. Look-alikes of other alphabets (Cyrillic а, Greek ο) stay different people.

/** What a reader cannot see in an id. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** An id that reads as another principal in a log, where principals stand as `human:ada`. */
const AS_PRINCIPAL = /^(?:human|policy|agent)\s*:/;

/** Upper case first: `ß` and `ss`, `ς` and `σ` are one letter each to Unicode, and to nothing in JavaScript. */
function foldId(id: string): string {
  return id.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
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

function flawOf(id: string): string | null {
  if (UNSEEN.test(id)) return 'it has invisible characters';
  if (id.trim() !== id) return 'it starts or ends with white space';
  return AS_PRINCIPAL.test(foldId(id)) ? 'it starts with a principal kind' : null;
}
