// An answer to a gate: the rule of its kind, whether the answer has that form and size, and a summary of it.
import type * as z from 'zod';
import { BUDGET_MEASURE_NAMES, type BudgetLimits } from '../../config/budgetMeasures.ts';
import { type Limits, tooLarge } from '../../config/limits.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { Masked } from '../../masking/MaskRule.ts';
import { isBlank } from '../../masking/visibleText.ts';
import type { HitlSession, HitlSessionKind, Principal } from '../../state/gates/hitlSession.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';
import { commentsOf, type QuotableSections, shortenText } from './answerForms.ts';

/**
 * All that is fixed about one kind of gate. A new kind is three places: its name in `HitlSessionKind`, its rule in the
 * table of the layer that asks it, and its words on the command line. Its schemas are made when an answer is parsed.
 */
export interface GateRule<Recorded extends z.ZodType = z.ZodType> {
  /** What a decider sends. */
  readonly given: () => z.ZodType;
  /** What the node gets: what was given, and who gave it when. */
  readonly recorded: () => Recorded;
  /**
   * A human's own version of what is shown, for kinds that take one instead of a decision. Apart from `given`, because a
   * union would not name the field that is wrong.
   */
  readonly edit?: () => z.ZodType;
  /** Other forms of an answer, each under the member that tells it from `given`. */
  readonly forms?: Readonly<Record<string, () => z.ZodType>>;
  /** The answers in words, for whoever sent another one. */
  readonly shape: string;
  /**
   * The name a run declares a policy for such gates by. `null` for a guard: it asks because something went wrong, and
   * nothing declared beforehand may answer it.
   */
  readonly policyName: string | null;
  /** Refuses an answer of the right form that this session cannot take, before it is recorded. */
  readonly assertFits?: (answer: object, session: HitlSession, by: Principal) => void;
  /** The texts that may be quoted in comments on what is shown. @defaultValue none */
  readonly places?: QuotableSections;
  /** An answer without the secrets in it, which is then what is recorded. @defaultValue all of it is recorded */
  readonly scrub?: (answer: object) => Masked<object>;
  /** What is recorded of an answer, where that is more than was given. */
  readonly toRecord?: (answer: object) => object;
}

/** The rules of every kind of gate that a graph asks: the only list of kinds there is. */
export type GateRules = { readonly [Kind in HitlSessionKind]?: GateRule };

/** An answer as its node gets it. */
export type AnswerTo<Rule extends GateRule> = Readonly<z.infer<ReturnType<Rule['recorded']>>>;

/** @throws DevsError `INVALID_ANSWER` for a kind that these rules do not have. */
export function ruleOf(rules: GateRules, kind: HitlSessionKind): GateRule {
  const rule = rules[kind];
  if (rule !== undefined) return rule;
  throw new DevsError(`This program has no gates of kind ${kind}.`, {
    code: 'INVALID_ANSWER',
    remedy: 'Decide the gate with the program that opened it.',
    context: { kind },
  });
}

export function isKindOf(rules: GateRules, value: unknown): value is HitlSessionKind {
  return typeof value === 'string' && Object.hasOwn(rules, value);
}

/**
 * Checks a decider's answer before anything is written: an invalid one that reached its node would be stored and
 * replayed on every resume.
 *
 * @throws DevsError `INVALID_ANSWER`; `FEEDBACK_REQUIRED` for a rejection that does not say why.
 */
export function parseAnswer(rules: GateRules, kind: HitlSessionKind, answer: unknown): object {
  const rule = ruleOf(rules, kind);
  const given = withoutUndefined(answer);
  const parsed = answerForm(given, rule)().safeParse(given);
  if (!parsed.success) throw invalidAnswer(kind, rule, parsed.error);
  const known = parsed.data as object;
  if (isUnexplainedRejection(known)) throw feedbackRequired(kind);
  return known;
}

/** A union of the forms would not name the field that is wrong. */
function answerForm(given: unknown, { given: plain, edit, forms = {} }: GateRule): GateRule['given'] {
  if (isEdit(given) && edit !== undefined) return edit;
  const other = Object.keys(forms).find((name) => Object.hasOwn(Object(given) as object, name));
  return (other === undefined ? undefined : forms[other]) ?? plain;
}

/** Whether a recorded answer fits the kind of question it came to. Pure: a node asks again when it does not. */
export function isAnswer<Rule extends GateRule>(rule: Rule, value: unknown): value is AnswerTo<Rule> {
  return rule.recorded().safeParse(value).success;
}

/** Whether an answer is a human's own version of what was shown, and not a decision on it. */
export function isEdit(answer: unknown): answer is { readonly action: 'edit' } {
  return (answer as { readonly action?: unknown } | null)?.action === 'edit';
}

/** What the human said, with who said it and when, for the record the node makes. */
export function answerWithAuthor({ decision, principal, decidedAt }: HitlSession): Record<string, unknown> {
  const answer = decision as Record<string, unknown>;
  if (principal === null || decidedAt === null) return answer;
  const at = new Date(decidedAt).toISOString();
  if (isEdit(answer)) return { ...answer, editedBy: principal.id, editedAt: at };
  return 'approved' in answer ? { ...answer, approvedBy: principal.id, approvedAt: at } : answer;
}

function isUnexplainedRejection(answer: {
  readonly approved?: unknown;
  readonly feedback?: string;
}): boolean {
  const says = !isBlank(answer.feedback ?? '') || commentsOf(answer).length > 0;
  return answer.approved === false && !says;
}

/** `{ feedback: undefined }` says the same as `{}`; JSON has no word for it. */
function withoutUndefined(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined));
}

/** Names the fields, never their values: an answer may hold what must not be logged. */
function invalidAnswer(kind: HitlSessionKind, { shape }: GateRule, { issues }: z.ZodError): DevsError {
  const found = issues.map(({ path, message }) => `${path.join('.') || 'answer'}: ${message}`).join('; ');
  return new DevsError(`A gate of kind ${kind} does not accept this answer. ${found}.`, {
    code: 'INVALID_ANSWER',
    remedy: `Answer with ${shape}.`,
    context: { kind },
  });
}

function feedbackRequired(kind: HitlSessionKind): DevsError {
  return new DevsError(`A rejection of kind ${kind} needs feedback.`, {
    code: 'FEEDBACK_REQUIRED',
    remedy: 'Reject it again, with feedback that describes the change.',
    context: { kind },
  });
}

/**
 * Refuses a value or an edit that is larger than an answer may be. Of an edit of documents or of a plan, which is as large
 * as what was shown, each text counts for itself.
 *
 * @throws DevsError `INVALID_ANSWER`
 */
export function assertAnswerSize(answer: object, sessionId: string, limits: Limits): void {
  const [name, text, value] = measured(answer);
  const bytes = Buffer.byteLength(text);
  if (bytes <= limits.answerBytes) return;
  throw tooLarge({
    ...{ what: `The ${name} of an answer`, limit: 'answerBytes', bytes, limits, code: 'INVALID_ANSWER' },
    path: heaviestPlace(value, name),
    context: { sessionId },
  });
}

/** The text that counts, of what. */
function measured(answer: object): readonly [name: string, text: string, value: unknown] {
  if (isEdit(answer)) return ['edit', longestText(answer), answer];
  const [name, value] = Object.entries(answer).find(([member]) => MEASURED.has(member)) ?? ['value', null];
  return [name, canonicalJson(value), value];
}

const MEASURED: ReadonlySet<string> = new Set(['value', 'edit']);

/** In bytes. */
function longestText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  const texts = Object.values(value).map(longestText);
  return texts.reduce(
    (longest, text) => (Buffer.byteLength(text) > Buffer.byteLength(longest) ? text : longest),
    '',
  );
}

/** What a decision says, for the story of a run. */
interface DecisionSummary {
  /** `approved`, `rejected`, `edited`, `answered`, or the action: `retry`, `skip`, `raise`, `abort`, … */
  readonly said: string;
  /** Feedback, guidance, reason, value or the first comment, at most 200 characters. */
  readonly words?: string;
  /** What was added to a budget. */
  readonly raised?: BudgetLimits;
  /** Of a review: what is done again, such as `T2`. */
  readonly tasks?: readonly string[];
  /** How many places it comments on. */
  readonly comments?: number;
}

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

function raisedBy(answer: Readonly<Record<string, unknown>>): BudgetLimits | null {
  const entries = BUDGET_MEASURE_NAMES.map((measure) => [measure, answer[measure]] as const);
  const given = entries.filter(([, amount]) => typeof amount === 'number');
  return answer['action'] === 'raise' && given.length > 0 ? Object.fromEntries(given) : null;
}
