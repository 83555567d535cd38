import type { HitlSession, Principal } from '../../state/gates/hitlSession.ts';
import type { NewWait, Wait, WaitStore } from '../../state/threads/WaitStore.ts';
import { type Approvals, answerPolicyOf, type Deadline } from './DeclaredGate.ts';

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
