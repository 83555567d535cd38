// Whether a decision counts: its principal may decide this gate, the gate is open and shows the same content as then, and
// enough people have approved.

import { DevsError } from '../../errors/DevsError.ts';
import type { HiddenRecord, HitlSession, Principal, Vote } from '../../state/gates/hitlSession.ts';
import type { StateFile } from '../../state/StateFile.ts';
import type { Policies, Thread } from '../../state/threads/threadRecords.ts';
import type { NewWait, Wait, WaitStore } from '../../state/threads/WaitStore.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import type { Law } from '../execution/lawOf.ts';
import { type Approvals, allowsPlainYes, answerPolicyOf, type Deadline } from './DeclaredGate.ts';
import type { GateRule, GateRules } from './engineGates.ts';
import { assertPersonId, isSameId, isSamePrincipal, namedTwice, principalText } from './principals.ts';

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

/** @throws DevsError `MAY_NOT_APPROVE` for somebody whose word does not count at this gate. */
export function assertMayApprove(by: Principal, session: HitlSession): void {
  const { approvals } = answerPolicyOf(session);
  if (approvals === undefined) return;
  const isInitiator = approvals.not !== undefined && isSameId(approvals.not, principalText(by));
  const isNamed = approvals.of?.some((id) => isSameId(id, by.id)) ?? true;
  if (!isInitiator && isNamed) return;
  const why = isInitiator ? 'started the run and cannot approve it' : 'is not an approver';
  throw new DevsError(`${principalText(by)} cannot decide gate "${session.id}": ${by.id} ${why}.`, {
    code: 'MAY_NOT_APPROVE',
    remedy: approvals.of === undefined ? 'Ask another person.' : `Ask one of ${approvals.of.join(', ')}.`,
    context: {
      sessionId: session.id,
      principal: principalText(by),
      reason: isInitiator ? 'initiator' : 'not_named',
    },
  });
}

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

function isHashPrefix(given: string, hash: string): boolean {
  const prefix = given.toLowerCase();
  return HASH_PREFIX.test(prefix) && hash.startsWith(prefix);
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

/** What somebody says, as it is recorded, about what they were shown. */
interface Said {
  readonly answer: object;
  readonly artifactHash: string;
  readonly by: Principal;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly hidden?: HiddenRecord | undefined;
}

interface VoteTally {
  readonly decision: object | null;
  readonly isNew: boolean;
}

/** Counts the yeses at gates that want them of certain people or of several. */
export class VoteCount {
  readonly #file: Pick<StateFile, 'sessions' | 'votes' | 'outbox'>;

  constructor(file: Pick<StateFile, 'sessions' | 'votes' | 'outbox'>) {
    this.#file = file;
  }

  /**
   * In the transaction of the decision, which the last vote is.
   *
   * @returns What to record as the decision, which is `null` where others have to vote; `isNew` is false where all this
   *   was said before.
   * @throws DevsError `GATE_ALREADY_DECIDED`, `GATE_STALE`, `ALREADY_VOTED`
   */
  count(session: HitlSession, { answer, artifactHash, by, at: votedAt, hidden }: Said, law: Law): VoteTally {
    const { approvals } = answerPolicyOf(session);
    const { approved, feedback = null } = answer as {
      readonly approved?: boolean;
      readonly feedback?: string;
    };
    if (approvals === undefined || approved !== true) return { decision: answer, isNew: true };
    const { sessions, votes: store, outbox } = this.#file;
    const vote = { principal: by, artifactHash, feedback, votedAt };
    const isRepeated = store.of(session.id).some(({ principal }) => isSamePrincipal(principal, by));
    if (isRepeated || !store.cast(session.id, vote))
      return repeatedVote(sessions.require(session.id), vote, law);
    const votes = store.of(session.id);
    const { id: sessionId, kind, threadId, taskId } = session;
    const { count: needed } = approvals;
    outbox.record(
      'GATE_VOTED',
      {
        ...{ sessionId, kind, principal: principalText(by), votes: votes.length, needed },
        ...(hidden !== undefined && { hidden }),
      },
      { taskId, ...(threadId !== null && { threadId }) },
    );
    const decision = votes.length < needed ? null : { ...answer, votes: votes.map(voteView) };
    return { decision, isNew: true };
  }
}

function repeatedVote(session: HitlSession, { principal, feedback }: Vote, law: Law): VoteTally {
  const before = session.votes?.find((vote) => isSamePrincipal(vote.principal, principal));
  if (session.status !== 'awaiting_approval' || before === undefined) throw closed(session);
  if (law.keep(before.feedback).value === law.keep(feedback).value) return { decision: null, isNew: false };
  throw new DevsError(
    `${principalText(principal)} has already approved gate "${session.id}" with a different answer.`,
    {
      code: 'ALREADY_VOTED',
      remedy: 'Each person can approve once. To stop the proposal, reject it.',
      context: { sessionId: session.id, principal: principalText(principal) },
    },
  );
}

/** Votes as the decision names them. */
const voteView = ({ principal, votedAt, feedback }: Vote) => ({
  by: principal.id,
  at: new Date(votedAt).toISOString(),
  ...(feedback !== null && { feedback }),
});

/** @throws RangeError for a rule that nobody could meet; TypeError for one that is none. */
export function assertApprovals(gate: string, { of, count = 1, notInitiator = false }: Approvals): void {
  if (typeof notInitiator !== 'boolean') {
    throw new TypeError(`Gate "${gate}": notInitiator must be a boolean.`);
  }
  const named = of === undefined ? Number.POSITIVE_INFINITY : countApprovers(of, gate);
  if (Number.isSafeInteger(count) && count >= 1 && count <= named) return;
  throw new RangeError(
    `Gate "${gate}": count must be from 1 to the number of approvers, got ${String(count)}.`,
  );
}

function countApprovers(of: readonly string[], gate: string): number {
  if (!Array.isArray(of) || !of.every((id) => typeof id === 'string' && id !== '')) {
    throw new TypeError(`Gate "${gate}": \`of\` must be a list of ids.`);
  }
  of.forEach(assertPersonId);
  const twice = namedTwice(of);
  if (twice !== undefined) throw new RangeError(`Gate "${gate}": \`of\` names "${twice}" twice.`);
  return of.length;
}

/** Whoever may decide says who they are: without names, several yeses may be of one person. */
export function warnOfUnnamed(gate: string, { of, count = 1 }: Approvals): void {
  if (of !== undefined || count === 1) return;
  process.emitWarning(
    `Gate "${gate}" needs ${count} approvals, and one person could approve under several names. List the approvers in \`of\`.`,
    'DevsApprovalsWarning',
  );
}

/** Who decides when a deadline does. */
export const DEADLINE: Principal = { kind: 'policy', id: 'deadline' };

/** Half of what a `Date` can name: when it passes is a date. */
const LONGEST = 4.32e15;

/** What else a gate was declared with. */
interface Besides {
  readonly approvals?: Approvals | undefined;
  readonly answer?: unknown;
}

/**
 * The deadlines of a gate as they are recorded with a run, the earliest first.
 *
 * @throws TypeError for what is none, what contradicts the gate, and what would come after a decision; RangeError for a time
 *   that is none.
 */
export function parsedDeadlines(
  gate: string,
  declared: Deadline | readonly Deadline[],
  besides: Besides,
): readonly Deadline[] {
  const deadlines = [declared].flat().map((deadline) => parseDeadline(gate, deadline, besides));
  const sorted = deadlines.toSorted((one, other) => one.within - other.within);
  if (sorted.slice(0, -1).some(decides))
    throw new TypeError(`Gate "${gate}": a deadline that decides must be the last one.`);
  return sorted;
}

const decides = ({ do: act }: Deadline): boolean => act === 'approve' || act === 'reject';

function parseDeadline(gate: string, { within, do: act }: Deadline, besides: Besides): Deadline {
  if (!Number.isSafeInteger(within) || within < 1 || within > LONGEST)
    throw new RangeError(`Gate "${gate}": within must be at least 1 millisecond, got ${String(within)}.`);
  if (typeof act === 'object') return { within, do: { reassign: assignedFrom(gate, act, besides) } };
  if (act !== 'remind' && act !== 'reject' && act !== 'approve') throw undone(gate);
  if (act === 'approve' && (besides.approvals ?? besides.answer) !== undefined)
    throw new TypeError(`Gate "${gate}": a deadline cannot approve a gate with \`approvals\` or \`answer\`.`);
  return { within, do: act };
}

function assignedFrom(
  gate: string,
  act: { readonly reassign: readonly string[] } | null,
  { approvals }: Besides,
): readonly string[] {
  const { reassign } = act ?? {};
  if (!isIds(reassign)) throw undone(gate);
  const stranger = approvals?.of && reassign.find((id) => !approvals.of?.includes(id));
  if (stranger === undefined) return reassign;
  throw new TypeError(`Gate "${gate}": "${stranger}" is not an approver.`);
}

const undone = (gate: string): TypeError =>
  new TypeError(`Gate "${gate}": do must be remind, reject, approve or { reassign: ids }.`);

const isIds = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((id) => typeof id === 'string' && id !== '');

/** When the deadlines of a gate pass that is opened: recorded in the same transaction. */
export function deadlineWaits(session: HitlSession): readonly NewWait[] {
  const { id, threadId, suspendedAt } = session;
  return (answerPolicyOf(session).deadlines ?? []).map(({ within }, index) => ({
    threadId: threadId ?? '',
    place: id,
    name: String(index),
    purpose: 'deadline',
    subject: null,
    interruptId: `deadline/${id}`,
    dueAt: suspendedAt + within,
  }));
}

/** The deadline of a gate that a wait is for. */
export const deadlineOf = ({ name }: Wait, session: HitlSession): Deadline =>
  answerPolicyOf(session).deadlines?.[Number(name)] as Deadline;

/** What a deadline answers; `null` where it decides nothing. */
export function deadlineAnswer({ do: act, within }: Deadline): { readonly approved: boolean } | null {
  if (act === 'approve') return { approved: true };
  return act === 'reject' ? deadlineRefusal(within) : null;
}

const deadlineRefusal = (within: number) => ({
  approved: false,
  feedback: `Nobody decided within ${within} ms.`,
});

/** Whether somebody is a deadline of this gate that has passed, and says what it was declared to say. */
export function isPassedDeadline(
  { kind, id }: Principal,
  session: HitlSession,
  { answer, waits }: { readonly answer: unknown; readonly waits: WaitStore },
): boolean {
  if (kind !== DEADLINE.kind || id !== DEADLINE.id) return false;
  const { approved } = Object(answer) as { readonly approved?: unknown };
  return waits
    .deadlines(session.threadId ?? '', [session.id])
    .some((wait) => wait.state === 'due' && deadlineAnswer(deadlineOf(wait, session))?.approved === approved);
}

/** What deadlines say about an open gate. */
export function gateTimes(
  session: HitlSession,
  waits: WaitStore,
): { readonly dueAt?: string; readonly assignedTo?: readonly string[] } {
  if (answerPolicyOf(session).deadlines === undefined) return {};
  const all = waits.deadlines(session.threadId ?? '', [session.id]);
  const next = all.find(({ state }) => state === 'pending')?.dueAt ?? null;
  const assigned = all
    .filter(({ state }) => state === 'due')
    .flatMap((wait) => {
      const { do: act } = deadlineOf(wait, session);
      return typeof act === 'object' ? [act.reassign] : [];
    });
  const [assignedTo] = assigned.slice(-1);
  return { ...(next !== null && { dueAt: new Date(next).toISOString() }), ...(assignedTo && { assignedTo }) };
}
