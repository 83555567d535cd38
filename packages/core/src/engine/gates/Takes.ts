import type { HitlSession } from '../../state/hitlSession.ts';
import type { RecordedApprovals } from './approvals.ts';
import type { Deadline } from './deadlines.ts';

/** What a declared gate takes besides one yes or no; a gate without any of it has none. Part of its question. */
export interface Takes {
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
export function takesOf({ question }: Pick<HitlSession, 'question'>): Partial<Takes> {
  return (question as { readonly takes?: Takes } | null)?.takes ?? {};
}

/** Whether a policy could answer it with a plain yes. */
export function takesPlainYes(session: Pick<HitlSession, 'question'>): boolean {
  const { value, approvals } = takesOf(session);
  return value === undefined && approvals === undefined;
}
