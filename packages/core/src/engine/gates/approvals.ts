import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession, Principal } from '../../state/hitlSession.ts';
import type { Policies } from '../../state/threadRecords.ts';
import { answerPolicyOf } from './AnswerPolicy.ts';
import { principalText } from './assertDecidable.ts';
import { assertPersonId, isSameId, namedTwice } from './people.ts';
import { principalOf } from './principals.ts';

/** Who has to say yes at a gate, besides anybody once. Fixed with a run when it is started. */
export interface Approvals {
  /** Ids of the humans who may. @defaultValue every human */
  readonly of?: readonly string[];
  /**
   * How many of them have to; each says yes once, and one no rejects. More than one without `of` is warned about: whoever may
   * decide can then say yes under several names.
   *
   * @defaultValue 1
   */
  readonly count?: number;
  /** Whoever started the run may not: `run(id, input, { by })`. @defaultValue false */
  readonly notInitiator?: boolean;
}

/** The same, as it is recorded with a run. */
export interface RecordedApprovals {
  readonly count: number;
  readonly of?: readonly string[];
  /** Who started the run, such as `human:ada`, where they may not. */
  readonly not?: string;
}

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

/** Whoever may decide says who they are: without names, several yeses may be of one person. */
export function warnOfUnnamed(gate: string, { of, count = 1 }: Approvals): void {
  if (of !== undefined || count === 1) return;
  process.emitWarning(
    `Gate "${gate}" needs ${count} approvals, and one person could approve under several names. List the approvers in \`of\`.`,
    'DevsApprovalsWarning',
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
