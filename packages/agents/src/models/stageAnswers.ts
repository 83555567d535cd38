import {
  assertPlan,
  type DocumentsResult,
  isDevsError,
  type PivotResult,
  type PlanResult,
  type ReviewResult,
  type WorkResult,
} from '@devs/core';
import { z } from 'zod';
import { documentsShape, pivotShape, planShape, reviewShape } from '../answers.ts';
import type { FileDesk } from './FileDesk.ts';

/** The tool whose call ends a conversation; its input is the answer. */
export interface AnswerTool<Answer> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<Answer>;
}

export const submitDocuments: AnswerTool<DocumentsResult> = {
  name: 'submit_documents',
  description: 'Hands in the documents of this stage, all of them, whole. Ends the stage.',
  schema: documentsShape.superRefine(({ documents }, context) => {
    const complain = (message: string): void =>
      context.addIssue({ code: 'custom', path: ['documents'], message });
    if (documents.length === 0) complain('at least one document is needed');
    const types = documents.map(({ type }) => type);
    if (new Set(types).size < types.length) complain('a type is used twice');
    if (types.includes('BRIEF')) complain('the brief belongs to the human and cannot be replaced');
  }),
};

export const submitPlan: AnswerTool<PlanResult> = {
  name: 'submit_plan',
  description: 'Hands in requirements, epics and tasks. Ends the stage.',
  schema: planShape.superRefine((plan, context) => {
    const problem = planProblem(plan);
    if (problem !== null) context.addIssue({ code: 'custom', path: ['epics'], message: problem });
  }),
};

export const submitReview: AnswerTool<ReviewResult> = {
  name: 'submit_review',
  description: 'Hands in the verdict. Ends the stage.',
  schema: reviewShape,
};

export const submitStrategy: AnswerTool<PivotResult> = {
  name: 'submit_strategy',
  description: 'Hands in the strategy. Ends the stage.',
  schema: pivotShape,
};

/** Ends a stage that edits: the answer is what lies on the desk. */
export function finishWith(desk: FileDesk): AnswerTool<WorkResult> {
  return {
    name: 'finish',
    description: 'Hands in the edits made so far. Ends the stage.',
    schema: z
      .object({ summary: z.string().min(1).describe('what was changed and why, in one or two sentences') })
      .transform(({ summary }) => ({ summary, files: desk.edits })),
  };
}

/** The engine would refuse such a plan later, when the model is not asked any more. */
function planProblem(plan: PlanResult): string | null {
  if (plan.epics.length === 0) return 'at least one epic is needed';
  try {
    assertPlan(plan);
    return null;
  } catch (error) {
    if (isDevsError(error, 'DAG_INVALID')) return error.message;
    throw error;
  }
}
