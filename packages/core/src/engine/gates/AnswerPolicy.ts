import type { HitlSession } from '../../state/hitlSession.ts';
import type { RecordedApprovals } from './approvals.ts';
import type { Deadline } from './deadlines.ts';

/** What a declared gate takes besides one yes or no; a gate without any of it has none. Part of its question. */
export interface AnswerPolicy {
  /** The name the gate was declared under. */
  readonly gate: string;
  /** A version of one's own, of what is shown or of the arguments of a tool call: `{ edit }`. */
  readonly edit?: 'artefact' | 'args';
  /** `{ value }`, and no `{ approved: true }`. */
  readonly value?: true;
  readonly approvals?: RecordedApprovals;
  /** What is done when nobody has decided in time, the earliest first. */
  readonly deadlines?: readonly Deadline[];
}

/** What the gate of a session takes besides. */
export function answerPolicyOf({ question }: Pick<HitlSession, 'question'>): Partial<AnswerPolicy> {
  return (question as { readonly takes?: AnswerPolicy } | null)?.takes ?? {};
}

/** Whether a policy could answer it with a plain yes. */
export function allowsPlainYes(session: Pick<HitlSession, 'question'>): boolean {
  const { value, approvals } = answerPolicyOf(session);
  return value === undefined && approvals === undefined;
}
