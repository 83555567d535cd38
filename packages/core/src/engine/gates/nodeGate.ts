import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { hashOf } from '../../state/canonicalJson.ts';
import type { HitlSession } from '../../state/hitlSession.ts';
import { isRecord } from '../isRecord.ts';
import { answerPolicyOf } from './AnswerPolicy.ts';
import { APPROVAL_SHAPE, answerText, givenApproval, optionalText, recordedApproval } from './approval.ts';
import { assertFitsSchema } from './fitsSchema.ts';
import type { GateRule } from './GateRule.ts';
import type { QuotableSection } from './quotes.ts';
import { storable } from './storable.ts';

// The answers of a gate that an author declared before a node: a yes or no, and what else was declared that it takes.

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
