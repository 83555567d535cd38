import { DevsError } from '../errors/DevsError.ts';
import { hashOf } from '../state/canonicalJson.ts';
import type { HitlSessionStore } from '../state/HitlSessionStore.ts';
import type { Vote } from '../state/HitlVoteStore.ts';
import type { HiddenRecord, HitlSession, HitlSessionKind } from '../state/hitlSession.ts';

import { principalText } from './gates/decidable.ts';
import type { Principal } from './gates/HumanInTheLoopManager.ts';
import type { Takes } from './gates/Takes.ts';

/** An open question to a human: what it is about and what it shows. Deciding it binds to `artifactHash`. */
export interface Gate {
  readonly sessionId: string;
  readonly threadId: string;
  readonly kind: HitlSessionKind;
  readonly taskId: string;
  /** SHA-256 (hex) of `artifact`. */
  readonly artifactHash: string;
  readonly message: string;
  readonly artifact: unknown;
  /** Places of it that were masked before it was recorded, where there are any: nobody can be shown them. */
  readonly masked?: number;
  /** JSON Schema of the values an `interrupt()` or a declared gate takes, where it was given one. */
  readonly responseSchema?: unknown;
  /** What a declared gate takes besides one yes or no. */
  readonly takes?: Takes;
  /** Where it wants approvals of certain people, or of several: who has said yes, oldest first. */
  readonly votes?: readonly GateVote[];
  /** ISO 8601, UTC. */
  readonly openedAt: string;
  /** When the next of its deadlines passes: ISO 8601, UTC. */
  readonly dueAt?: string;
  /** Whom a deadline has named to decide it. */
  readonly assignedTo?: readonly string[];
}

export interface GateVote {
  /** Such as `human:ada`. */
  readonly principal: string;
  /** ISO 8601, UTC. */
  readonly votedAt: string;
  readonly feedback?: string;
}

/**
 * A decision on a gate: the answer of its kind, and who gives it. `via` is the way it was given: `page`, `command`, `file`,
 * `program` or another short word, recorded with it. `withHidden` says how many places of what is shown are hidden: a person
 * who was not shown them says yes all the same.
 */
export type GateAnswer = {
  readonly by: Principal;
  readonly via?: string;
  readonly withHidden?: number | undefined;
} & Readonly<Record<string, unknown>>;

/** A question that is not open any more: what was shown, and what became of it. */
export interface ClosedGate extends Gate {
  /** `decided`: not taken up yet. `resumed`: taken up. `superseded`: asked again, or set back. `cancelled`: the run has ended. */
  readonly status: Exclude<HitlSession['status'], 'awaiting_approval'>;
  /** As it was given; `null` where nobody decided. */
  readonly decision: unknown;
  /** Such as `human:ada`; `null` where nobody decided. */
  readonly principal: string | null;
  /** ISO 8601, UTC. */
  readonly decidedAt: string | null;
  /** The way it was decided, where that was said: `page`, `command`, `file`, … */
  readonly via?: string;
  /** What of it was hidden, where anything was. */
  readonly hidden?: HiddenRecord;
}

/** The questions of a run that are closed, oldest first. */
export function closedGates(threadId: string, sessions: HitlSessionStore): readonly ClosedGate[] {
  return sessions.listClosed(threadId).flatMap((session) => closedGate(session) ?? []);
}

/** `null` while it is open. */
function closedGate(session: HitlSession): ClosedGate | null {
  const { status, decision, principal, decidedAt, via, hidden } = session;
  if (status === 'awaiting_approval') return null;
  return {
    ...gateOf(session),
    status,
    decision,
    principal: principal === null ? null : `${principal.kind}:${principal.id}`,
    decidedAt: decidedAt === null ? null : new Date(decidedAt).toISOString(),
    ...(via !== undefined && { via }),
    ...(hidden !== undefined && { hidden }),
  };
}

/** The questions of all runs whose ids begin so: of the newest run first, and of each the oldest first. */
export function gatesNamed(beginning: string, sessions: HitlSessionStore): readonly (Gate | ClosedGate)[] {
  return sessions.listNamed(beginning).map((session) => closedGate(session) ?? gateOf(session));
}

type Asked = Partial<Pick<Gate, 'message' | 'artifact' | 'masked' | 'responseSchema' | 'takes'>>;

/** @throws DevsError `STATE_CORRUPT` if what is shown is not what an answer binds to. */
export function gateOf(session: HitlSession): Gate {
  const { message = '', artifact = null, ...besides } = (session.question ?? {}) as Asked;
  if (session.question !== null && session.artifactHash !== hashOf(artifact)) throw mismatch(session.id);
  return {
    sessionId: session.id,
    threadId: session.threadId ?? '',
    kind: session.kind,
    taskId: session.taskId,
    artifactHash: session.artifactHash ?? '',
    message,
    artifact,
    ...wherePresent(besides),
    ...(session.votes !== undefined && { votes: session.votes.map(voteOf) }),
    openedAt: new Date(session.suspendedAt).toISOString(),
  };
}

const wherePresent = ({ masked, responseSchema, takes }: Asked): Asked => ({
  ...(masked !== undefined && { masked }),
  ...(responseSchema !== undefined && { responseSchema }),
  ...(takes !== undefined && { takes }),
});

const voteOf = ({ principal, votedAt, feedback }: Vote): GateVote => ({
  principal: principalText(principal),
  votedAt: new Date(votedAt).toISOString(),
  ...(feedback !== null && { feedback }),
});

/** The questions a run waits for, oldest first. */
export function openGates(threadId: string, sessions: HitlSessionStore): readonly Gate[] {
  return sessions.listOpen(threadId).map(gateOf);
}

/** The questions that all runs wait for: of the newest run first, and of each the oldest first. */
export function openGatesOfRuns(sessions: HitlSessionStore): readonly Gate[] {
  return sessions.listOpenOfRuns().map(gateOf);
}

function mismatch(sessionId: string): DevsError {
  return new DevsError(`The content of gate "${sessionId}" does not match its recorded hash.`, {
    code: 'STATE_CORRUPT',
    remedy: 'The recorded question was changed. Restore the state file from a backup, or find the cause.',
    context: { sessionId },
  });
}
