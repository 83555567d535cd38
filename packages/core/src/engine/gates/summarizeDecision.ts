import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import { isBlank } from '../../values/blankText.ts';
import { commentsOf } from './comments.ts';

/** What a decision says, for the story of a run. */
export interface DecisionSummary {
  /** `approved`, `rejected`, `edited`, `answered`, or the action: `retry`, `skip`, `raise`, `abort`, … */
  readonly said: string;
  /** Feedback, guidance, reason, value or the first comment, at most 200 characters. */
  readonly words?: string;
  /** What was added to a budget. */
  readonly raised?: Raised;
  /** Of a review: what is done again, such as `T2`. */
  readonly tasks?: readonly string[];
  /** How many places it comments on. */
  readonly comments?: number;
}

const MEASURES = ['usd', 'tokens', 'calls', 'ms'] as const;
type Raised = Readonly<Partial<Record<(typeof MEASURES)[number], number>>>;

const MAX_WORDS = 200;

/** @param answer - As it is recorded. */
export function summarizeDecision(answer: object): DecisionSummary {
  const { approved, action, edit, tasks } = answer as Readonly<Record<string, unknown>>;
  const { length: comments } = commentsOf(answer);
  const text = decisionText(answer);
  const raised = raisedBy(answer as Readonly<Record<string, unknown>>);
  return {
    said: edit === undefined ? verdictText(approved, action) : 'edited',
    ...(typeof text === 'string' && !isBlank(text) && { words: shortenText(text) }),
    ...(raised !== null && { raised }),
    ...(Array.isArray(tasks) && { tasks: tasks.map(String) }),
    ...(comments > 0 && { comments }),
  };
}

function decisionText(answer: object): unknown {
  const { feedback, guidance, reason, value } = answer as Readonly<Record<string, unknown>>;
  const text = feedback ?? guidance ?? reason ?? commentsOf(answer)[0]?.text;
  return text ?? ('value' in answer ? JSON.stringify(value) : undefined);
}

function verdictText(approved: unknown, action: unknown): string {
  if (approved === true) return 'approved';
  if (approved === false) return 'rejected';
  if (action === 'edit') return 'edited';
  return typeof action === 'string' ? action : 'answered';
}

function raisedBy(answer: Readonly<Record<string, unknown>>): Raised | null {
  const entries = MEASURES.map((measure) => [measure, answer[measure]] as const);
  const given = entries.filter(([, amount]) => typeof amount === 'number');
  return answer['action'] === 'raise' && given.length > 0 ? Object.fromEntries(given) : null;
}

/** A text as the story tells it: one line, masked by the broad rules before it is cut, since half a secret has no shape. */
export function shortenText(text: string): string {
  const line = maskSensitiveData(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= MAX_WORDS ? line : `${line.slice(0, MAX_WORDS - 1)}…`;
}
