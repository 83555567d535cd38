// The gates of any graph. A gate before a node takes a yes or no, and the other answers that its author declared. A bare
// `interrupt()` takes any plain JSON, and the call returns it. The guards ask for an action.

import { z } from 'zod';
import { BUDGET_MEASURE_NAMES } from '../../config/budgetMeasures.ts';
import { lateSchema } from '../../config/lateSchema.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { hashOf } from '../../values/canonicalJson.ts';
import { isRecord } from '../../values/isRecord.ts';
import { measureAmounts } from '../guards/Budget.ts';
import {
  APPROVAL_SHAPE,
  answerText,
  assertFitsSchema,
  givenApproval,
  optionalText,
  type QuotableSection,
  recordedApproval,
  storable,
} from './answerForms.ts';
import type { GateRule, GateRules } from './answers.ts';
import { answerPolicyOf } from './DeclaredGate.ts';

const given = lateSchema(() => z.strictObject({ value: storable() }));

export const interruptGate = {
  given,
  recorded: given,
  shape: '{ value: … }, plain JSON: the value for interrupt() to return',
  policyName: null,
  assertFits: assertFitsSchema,
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
