// Approvals and deadlines as a run records them when it starts. A later version of the program does not change them; a gate
// that an accepted graph adds is recorded then.

import { DevsError } from '../../errors/DevsError.ts';
import type { Principal } from '../../state/gates/hitlSession.ts';
import type { Policies } from '../../state/threads/threadRecords.ts';
import type { AnswerPolicy, Approvals, Deadline, RecordedApprovals } from './DeclaredGate.ts';
import type { NamedGates } from './parsedGates.ts';
import { isSameId, principalOf, principalText } from './principals.ts';

/** What of its gates is recorded with a run when it is started. */
type RecordedRules = Required<Pick<AnswerPolicy, 'approvals' | 'deadlines'>>;

type ByGate<Of> = Readonly<Record<string, Of>>;

/** What the run was started with for a gate of this name; `undefined` where nothing was declared. */
export function recordedFor<Member extends keyof RecordedRules>(
  policies: Policies | undefined,
  member: Member,
  gate: string,
): RecordedRules[Member] | undefined {
  const recorded = policies?.[member] as ByGate<RecordedRules[Member]> | undefined;
  return recorded !== undefined && Object.hasOwn(recorded, gate) ? recorded[gate] : undefined;
}

/** What it was started with, under the names that its gates have now; of a gate that is gone, nothing. */
function recordedUnder(
  policies: Policies,
  member: keyof RecordedRules,
  renamed: (gate: string) => string | null,
): ByGate<unknown> {
  const recorded = (policies[member] ?? {}) as ByGate<unknown>;
  const moved = Object.entries(recorded).flatMap(([gate, held]) => {
    const now = renamed(gate);
    return now === null ? [] : [[now, held] as const];
  });
  return Object.fromEntries(moved);
}

/**
 * What is recorded of a run that is started now: who starts it, and what its gates are held to.
 *
 * @throws TypeError if that is no principal.
 * @throws DevsError `INVALID_INPUT` where nobody is named who starts it and one of its gates is not for them, or too few
 *   are left.
 */
export function gatePolicies(
  gates: ReadonlyMap<string, { readonly approvals?: Approvals }> = new Map(),
  by: Principal | undefined,
  threadId: string,
): Policies {
  const startedBy = by && principalOf(by);
  const recorded = [...gates].flatMap(([gate, { approvals }]) =>
    approvals === undefined ? [] : [[gate, atStart(gate, approvals, { startedBy, threadId })] as const],
  );
  return {
    ...(startedBy && { startedBy }),
    ...(recorded.length > 0 && { approvals: Object.fromEntries(recorded) }),
  };
}

function atStart(
  gate: string,
  { of, count = 1, notInitiator = false }: Approvals,
  { startedBy, threadId }: { readonly startedBy: Principal | undefined; readonly threadId: string },
): RecordedApprovals {
  if (!notInitiator) return { count, ...(of && { of }) };
  if (startedBy === undefined)
    throw unstartable(threadId, `gate "${gate}" cannot be decided by the person who starts the run`);
  const others = of?.filter((id) => startedBy.kind !== 'human' || !isSameId(id, startedBy.id));
  if (others !== undefined && others.length < count) {
    throw unstartable(
      threadId,
      `gate "${gate}" needs ${count} approvers, and only ${others.length} are left`,
    );
  }
  return { count, ...(of && { of }), not: principalText(startedBy) };
}

function unstartable(threadId: string, why: string): DevsError {
  return new DevsError(`The gates of run "${threadId}" could never be decided: ${why}.`, {
    code: 'INVALID_INPUT',
    remedy: 'Start the run with `by`, the person who starts it, and name other people as approvers.',
    context: { threadId },
  });
}

/** What is recorded of a run that is started now. */
export function deadlinePolicies(
  gates: ReadonlyMap<string, { readonly deadlines?: readonly Deadline[] }> = new Map(),
): Policies {
  const declared = [...gates].flatMap(([gate, { deadlines }]) =>
    deadlines ? [[gate, deadlines] as const] : [],
  );
  return declared.length === 0 ? {} : { deadlines: Object.fromEntries(declared) };
}

/** The graph that a run goes on with: once a human has accepted it, or from its next turn on. */
interface AcceptedGates {
  readonly threadId: string;
  /** The gates of the graph before, under the names they have now. */
  readonly before: ReadonlySet<string>;
  /** What its author declared to be asked. */
  readonly gates: NamedGates | undefined;
  /** The name of a gate now; `null` where it is gone. */
  readonly renamed: (gate: string) => string | null;
}

/**
 * What a run was started with goes with its gates; a gate that the accepted graph is the first to have is held to what its
 * program declares.
 *
 * @throws DevsError `INVALID_INPUT` as {@link gatePolicies}.
 */
export function acceptedPolicies(
  policies: Policies,
  { threadId, before, gates = new Map(), renamed }: AcceptedGates,
): Policies {
  const { approvals: _, deadlines: __, ...others } = policies;
  const added = new Map([...gates].filter(([gate]) => !before.has(gate)));
  const startedBy = policies['startedBy'] as Principal | undefined;
  const fresh = { ...gatePolicies(added, startedBy, threadId), ...deadlinePolicies(added) };
  const held = (['approvals', 'deadlines'] as const).map((member) => {
    const declared = fresh[member] as object | undefined;
    return [member, { ...declared, ...recordedUnder(policies, member, renamed) }] as const;
  });
  return { ...others, ...Object.fromEntries(held.filter(([, of]) => Object.keys(of).length > 0)) };
}
