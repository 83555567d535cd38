import type { HiddenRecord } from '../../events/events.ts';

export type { HiddenRecord };

export const HITL_SESSION_KINDS = [
  'design_approval',
  'dag_approval',
  'task_failure',
  'recursion_limit',
  'budget',
  'review',
  'baseline',
  'step',
  'node_gate',
  'interrupt',
] as const;

/** What a question to a human is about. */
export type HitlSessionKind = (typeof HITL_SESSION_KINDS)[number];

/** `awaiting_approval` → `decided` → `resumed`; or withdrawn: asked again (`superseded`), or run ended. */
export type HitlSessionStatus = 'awaiting_approval' | 'decided' | 'resumed' | 'superseded' | 'cancelled';

/** Author of a decision or a signal. Decisions of agents are rejected. */
export interface Principal {
  readonly kind: 'human' | 'policy' | 'agent';
  readonly id: string;
}

/** A yes of one of several who have to say it. */
export interface Vote {
  readonly principal: Principal;
  /** SHA-256 (hex) of what they were shown. */
  readonly artifactHash: string;
  /** Masked. */
  readonly feedback: string | null;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly votedAt: number;
}

/** A question to a human, open or closed. The graph state it was asked in is not part of it and is never logged. */
export interface HitlSession {
  readonly id: string;
  readonly taskId: string;
  readonly kind: HitlSessionKind;
  readonly status: HitlSessionStatus;
  /** `null` for a free-standing session, which belongs to no run. */
  readonly threadId: string | null;
  /** LangGraph's interrupt; `null` until the output the question is about is on disk. */
  readonly interruptId: string | null;
  readonly questionKey: string | null;
  readonly checkpointId: string | null;
  /** SHA-256 (hex) of what is shown. */
  readonly artifactHash: string | null;
  readonly question: unknown;
  readonly evidence: unknown;
  /** The recorded answer; `null` before. */
  readonly decision: unknown;
  readonly principal: Principal | null;
  /** The way it was given, where that was said: kept beside the answer, and no part of it. */
  readonly via?: string;
  /** What of it was hidden, where anything was: kept beside the answer, too. */
  readonly hidden?: HiddenRecord;
  /** Milliseconds since the Unix epoch, UTC; so are the other times. */
  readonly suspendedAt: number;
  readonly decidedAt: number | null;
  readonly resumedAt: number | null;
  /** Who has said yes, oldest first; only where its gate wants that of certain people, or of several. */
  readonly votes?: readonly Vote[];
}

/** What of a session the decision log speaks of. */
export type AnsweredSession = Pick<
  HitlSession,
  | ('id' | 'taskId' | 'kind' | 'status' | 'threadId')
  | ('artifactHash' | 'decision' | 'principal' | 'via' | 'hidden' | 'decidedAt')
>;
