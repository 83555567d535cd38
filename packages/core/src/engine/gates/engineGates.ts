// The rule of a kind of gate, the answers that it takes, and the rules of any graph. A gate before a node takes a yes or no,
// and the other answers that its author declared. A bare `interrupt()` takes any plain JSON, and the call returns it. The
// guards ask for an action.

import { z } from 'zod';
import { BUDGET_MEASURE_NAMES, type BudgetLimits } from '../../config/budgetMeasures.ts';
import { lateSchema } from '../../config/lateSchema.ts';
import { type Limits, tooLarge } from '../../config/limits.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { Masked } from '../../masking/MaskRule.ts';
import { isBlank } from '../../masking/visibleText.ts';
import type { HitlSessionStore } from '../../state/gates/HitlSessionStore.ts';
import type { HitlSession, HitlSessionKind, Principal } from '../../state/gates/hitlSession.ts';
import { canonicalJson, hashOf } from '../../values/canonicalJson.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';
import { isRecord } from '../../values/isRecord.ts';
import { measureAmounts } from '../guards/Budget.ts';
import {
  APPROVAL_SHAPE,
  answerText,
  assertFitsInterrupt,
  assertFitsSchema,
  type CommentTally,
  commentsOf,
  givenApproval,
  interruptAnswer,
  optionalText,
  type QuotableSection,
  type QuotableSections,
  recordedApproval,
  shortenText,
  storable,
} from './answerForms.ts';
import { answerPolicyOf } from './DeclaredGate.ts';

/**
 * All that is fixed about one kind of gate. A new kind is in three places. These are its name in `HitlSessionKind`, its
 * rule in the table of the layer that asks it, and its words on the command line. Its schemas are made when an answer is parsed.
 */
export interface GateRule<Recorded extends z.ZodType = z.ZodType> {
  /** The answer that a decider sends. */
  readonly given: () => z.ZodType;
  /** The answer that the node gets, with its author and time. */
  readonly recorded: () => Recorded;
  /**
   * A human's own version of what is shown, for kinds that take one instead of a decision. Apart from `given`, because a
   * union would not name the field that is wrong.
   */
  readonly edit?: () => z.ZodType;
  /** Other forms of an answer, each under the member that distinguishes it from `given`. */
  readonly forms?: Readonly<Record<string, () => z.ZodType>>;
  /** The answers in words, for the sender of another one. */
  readonly shape: string;
  /**
   * The name a run declares a policy for such gates by. `null` for a guard: it asks because something went wrong, and
   * nothing declared beforehand may answer it.
   */
  readonly policyName: string | null;
  /** Turns another form of an answer, which the question of this session also takes, into `given`. */
  readonly read?: (answer: unknown, session: HitlSession) => unknown;
  /** Refuses an answer of the right form that this session cannot take, before it is recorded. */
  readonly assertFits?: (answer: object, session: HitlSession, by: Principal) => void;
  /** The texts that may be quoted in comments on what is shown. @defaultValue none */
  readonly places?: QuotableSections;
  /** Comments of the rejection before a gate that opens, and how many it answers; `null` without any. @defaultValue not counted */
  readonly tally?: (
    asked: { readonly threadId: string; readonly artifact: unknown },
    sessions: HitlSessionStore,
  ) => CommentTally | null;
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
 * @throws DevsError `INVALID_ANSWER`; `FEEDBACK_REQUIRED` for a rejection without a reason.
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

/** The human's answer with its author and time, for the record the node makes. */
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

/** `{ feedback: undefined }` means the same as `{}`; JSON cannot express it. */
function withoutUndefined(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined));
}

/** Names the fields without their values: an answer may hold text that must not be logged. */
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

/** A summary of a decision, for the story of a run. */
interface DecisionSummary {
  /** `approved`, `rejected`, `edited`, `answered`, or the action: `retry`, `skip`, `raise`, `abort`, … */
  readonly said: string;
  /** Feedback, guidance, reason, value or the first comment, at most 200 characters. */
  readonly words?: string;
  /** The addition to a budget. */
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

const given = lateSchema(() => z.strictObject({ value: storable() }));

export const interruptGate = {
  given,
  recorded: given,
  shape: '{ value: … }, plain JSON: the value for interrupt() to return',
  policyName: null,
  read: interruptAnswer,
  assertFits: assertFitsInterrupt,
} satisfies GateRule;

const value = lateSchema(() => z.strictObject({ value: storable() }));
const editForm = lateSchema(() => z.strictObject({ edit: storable() }));

const vote = lateSchema(() =>
  z.strictObject({ by: answerText(), at: answerText(), feedback: optionalText() }),
);
const recordedAnswer = lateSchema(() => {
  const approved = recordedApproval().extend({
    votes: z.exactOptional(z.array(vote())),
    edit: z.exactOptional(z.unknown()),
    editHash: optionalText(),
  });
  return z.union([approved, value()]);
});

export const nodeGate = {
  given: givenApproval,
  recorded: recordedAnswer,
  forms: { value, edit: editForm },
  shape: `${APPROVAL_SHAPE}; { edit } or { value } if the gate is declared with one`,
  policyName: 'node_gate',
  assertFits: assertAnswerFits,
  places,
  toRecord: (answer) =>
    'edit' in answer ? { ...answer, approved: true, editHash: hashOf(answer.edit) } : answer,
} satisfies GateRule;

/** All of what is shown, as `''`, and each member of it. */
function places(artifact: unknown): readonly QuotableSection[] {
  const all = { names: [''], texts: [artifactText(artifact)] as const };
  if (!isRecord(artifact)) return [all];
  return [
    all,
    ...Object.entries(artifact).map(([name, value]) => ({
      names: [name],
      texts: [artifactText(value)] as const,
    })),
  ];
}

const artifactText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null, null, 2);

/** Refuses what the gate was not declared to take. @throws DevsError `INVALID_ANSWER` */
function assertAnswerFits(answer: object, session: HitlSession): void {
  const takes = answerPolicyOf(session);
  if ('edit' in answer) {
    if (takes.edit === undefined)
      throw answerRefused(session, 'does not accept an edited version', APPROVAL_SHAPE);
    if (takes.edit === 'args' && !isRecord(answer.edit)) {
      throw answerRefused(session, 'needs an object with the arguments of the tool call', '{ edit: { … } }');
    }
    return;
  }
  if ('value' in answer) {
    if (takes.value === undefined) throw answerRefused(session, 'does not accept a value', APPROVAL_SHAPE);
    assertFitsSchema(answer, session);
    return;
  }
  const isYes = (answer as { readonly approved?: unknown }).approved === true;
  if (isYes && takes.value === true) {
    throw answerRefused(session, 'needs a value', '{ value: … } or { approved: false, feedback }');
  }
}

function answerRefused({ id, kind }: HitlSession, why: string, shape: string): DevsError {
  return new DevsError(`Gate "${id}" ${why}.`, {
    code: 'INVALID_ANSWER',
    remedy: `Answer with ${shape}.`,
    context: { sessionId: id, kind },
  });
}

const taskFailure = lateSchema(() =>
  z.strictObject({
    action: z.enum(['retry', 'skip', 'abort']),
    /** For the next attempts. */
    guidance: optionalText(),
    /** For the record: why it is given up. */
    reason: optionalText(),
  }),
);
const recursionLimit = lateSchema(() =>
  z.strictObject({ action: z.enum(['continue', 'abort']), reason: optionalText() }),
);
const budget = lateSchema(() => {
  const raise = z.strictObject({ action: z.literal('raise'), ...measureAmounts().shape });
  return z.discriminatedUnion('action', [
    z.strictObject({ action: z.literal('abort'), reason: optionalText() }),
    raise.refine((answer) => BUDGET_MEASURE_NAMES.some((measure) => answer[measure] !== undefined), {
      error: `Names none of ${BUDGET_MEASURE_NAMES.join(', ')}`,
    }),
  ]);
});

/**
 * Refuses a raise of what was not passed, before it is recorded: the call would stay refused, and the gate be asked again.
 * What was passed need not be raised all at once.
 *
 * @throws DevsError `INVALID_ANSWER`
 */
function assertRaisesPassed(answer: object, { id, question }: HitlSession): void {
  const passed = passedMeasures(question);
  const given = BUDGET_MEASURE_NAMES.filter((measure) => measure in answer);
  const [wrong] = passed.size === 0 ? [] : given.filter((measure) => !passed.has(measure));
  if (wrong === undefined) return;
  const names = [...passed].join(', ');
  throw new DevsError(`Gate "${id}" asks about ${names}, but the answer raises ${wrong}.`, {
    code: 'INVALID_ANSWER',
    remedy: `Raise ${names}, which the next call would exceed.`,
    context: { sessionId: id, passed: names },
  });
}

/** Empty for a question that a release before recorded in another form: it takes what it took. */
function passedMeasures(question: unknown): ReadonlySet<string> {
  const { artifact } = (question ?? {}) as {
    readonly artifact?: { readonly limits?: readonly { readonly measure: string }[] };
  };
  return new Set(Array.isArray(artifact?.limits) ? artifact.limits.map(({ measure }) => measure) : []);
}

const stepAnswer = lateSchema(() =>
  z.strictObject({
    /** The recorded call is this one's, it is made again beside it, or the run ends. */
    action: z.enum(['use', 'repeat', 'abort']),
    reason: optionalText(),
  }),
);

/** The gates that any graph may stop at: what its author declared, and the guards. */
export const ENGINE_GATES = {
  node_gate: nodeGate,
  interrupt: interruptGate,
  task_failure: {
    given: taskFailure,
    recorded: taskFailure,
    shape: "{ action: 'retry', guidance? } or { action: 'skip' | 'abort', reason? }",
    policyName: null,
  },
  recursion_limit: {
    given: recursionLimit,
    recorded: recursionLimit,
    shape: "{ action: 'continue' } or { action: 'abort', reason? }",
    policyName: null,
  },
  budget: {
    given: budget,
    recorded: budget,
    shape: `{ action: 'raise', ${BUDGET_MEASURE_NAMES.map((measure) => `${measure}?`).join(', ')} } or { action: 'abort', reason? }`,
    policyName: null,
    assertFits: assertRaisesPassed,
  },
  step: {
    given: stepAnswer,
    recorded: stepAnswer,
    shape: "{ action: 'use' | 'repeat' } or { action: 'abort', reason? }",
    policyName: null,
  },
} satisfies GateRules;
