import { DevsError } from '../../errors/DevsError.ts';
import { canonicalJson } from '../../state/canonicalJson.ts';
import type { HitlSession, Principal } from '../../state/hitlSession.ts';

/** Shortest beginning of a hash that names it, in hex digits: enough for a person to copy. */
const MIN_HASH_PREFIX = 8;
const HASH_PREFIX = new RegExp(`^[0-9a-f]{${MIN_HASH_PREFIX},64}$`);

/**
 * The hash to decide under: the session is open, bound, and shows what the decider saw.
 *
 * @throws DevsError `GATE_ALREADY_DECIDED`, `GATE_NOT_READY` or `GATE_STALE`, checked in this order.
 */
export function assertDecidable(session: HitlSession, seenHash: string): string {
  if (session.status !== 'awaiting_approval') throw closed(session);
  if (session.interruptId === null) throw notReady(session);
  const { artifactHash } = session;
  if (artifactHash !== null && isHashPrefix(seenHash, artifactHash)) return artifactHash;
  throw new DevsError(`The hash does not match the current content of gate "${session.id}".`, {
    code: 'GATE_STALE',
    remedy: 'Read the gate again and use the hash it shows.',
    context: { sessionId: session.id, artifactHash: artifactHash ?? '' },
  });
}

/** `human:reviewer-1` */
export function principalText({ kind, id }: Principal): string {
  return `${kind}:${id}`;
}

/** Why a closed session cannot be answered; carries who answered it, so that a client can see it was itself. */
export function closed(session: HitlSession): DevsError {
  const { id, status, principal, decidedAt, decision } = session;
  if (status === 'superseded' || status === 'cancelled') return withdrawn(session);
  const by = principal === null ? 'by a direct resume' : `by ${principalText(principal)}`;
  const at = decidedAt ?? session.resumedAt ?? 0;
  return new DevsError(`Gate "${id}" was already decided ${by} at ${new Date(at).toISOString()}.`, {
    code: 'GATE_ALREADY_DECIDED',
    remedy: 'Compare the recorded decision with yours. To change it, rewind the run.',
    context: {
      sessionId: id,
      decision: canonicalJson(decision),
      principal: principal === null ? '' : principalText(principal),
      decidedAt: at,
    },
  });
}

function withdrawn({ id, status, threadId }: HitlSession): DevsError {
  const why = status === 'cancelled' ? 'its run has ended' : 'it was asked again, or the run was rewound';
  return new DevsError(`Gate "${id}" was withdrawn: ${why}.`, {
    code: 'GATE_STALE',
    remedy: 'List the open gates, then decide the current one.',
    context: { sessionId: id, threadId: threadId ?? '' },
  });
}

function notReady({ id, threadId }: HitlSession): DevsError {
  const isFree = threadId === null;
  const why = isFree ? 'it does not belong to a run' : 'its content is not saved yet';
  return new DevsError(`Gate "${id}" cannot be decided: ${why}.`, {
    code: 'GATE_NOT_READY',
    remedy: isFree ? 'Continue it with resume().' : 'Resume the run until it waits at this gate.',
    context: { sessionId: id },
  });
}

function isHashPrefix(given: string, hash: string): boolean {
  const prefix = given.toLowerCase();
  return HASH_PREFIX.test(prefix) && hash.startsWith(prefix);
}
