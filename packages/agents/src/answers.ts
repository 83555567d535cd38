import type {
  AnswerResult,
  DocumentsResult,
  PivotResult,
  PlanResult,
  ReviewResult,
  WorkResult,
} from '@devs/core';
import { z } from 'zod';

// What agents answer, as zod shapes. The descriptions reach models as part of the tools they call.

const textSchema = z.string();
const textList = z.array(textSchema);

const documentList = z.array(
  z.strictObject({
    type: textSchema.describe('PRD, TAS, RESEARCH, …: one document per type'),
    title: textSchema,
    content: textSchema.describe('Markdown'),
  }),
);

export const documentsShape: z.ZodType<DocumentsResult> = z.strictObject({ documents: documentList });

/** With what an agent was told within its stage. */
export const recordedDocumentsShape: z.ZodType<DocumentsResult> = z.strictObject({
  documents: documentList,
  toldOf: textList.exactOptional(),
});

export const planShape: z.ZodType<PlanResult> = z.strictObject({
  requirements: z.array(
    z.strictObject({ externalId: textSchema.describe('for example REQ-1'), description: textSchema }),
  ),
  epics: z.array(
    z.strictObject({
      name: textSchema,
      description: textSchema,
      tasks: z.array(
        z.strictObject({
          key: textSchema.describe('short name, unique in the plan'),
          name: textSchema,
          description: textSchema,
          dependsOn: textList.describe('keys of tasks that must be finished before'),
          requirements: textList.describe('external ids of the requirements it traces to'),
          acceptanceCriteria: textList,
          kind: z
            .enum(['test-first', 'behaviour-kept', 'checked-by'])
            .describe('how its work is shown to be right; test-first when left out')
            .exactOptional(),
          checkedBy: textSchema
            .min(1)
            .describe('of a task that is checked-by: one command without a shell, or review')
            .exactOptional(),
        }),
      ),
    }),
  ),
});

export const workShape: z.ZodType<WorkResult> = z.strictObject({
  summary: textSchema,
  files: z.array(z.strictObject({ path: textSchema, content: textSchema.nullable() })),
  wrongTest: textSchema.exactOptional(),
  message: textSchema.exactOptional(),
  read: z
    .array(z.strictObject({ path: textSchema, fromLine: z.int().positive(), lines: z.int().positive() }))
    .exactOptional(),
});

export const reviewShape: z.ZodType<ReviewResult> = z.strictObject({
  approved: z.boolean(),
  comments: textSchema.describe('what has to change, or why nothing has to'),
  evidence: z
    .array(
      z.strictObject({
        criterion: textSchema.describe('an acceptance criterion, word for word'),
        shownBy: textSchema.min(1).describe('what shows that it is met: the test, by file and name'),
      }),
    )
    .optional()
    .describe('when approved: one entry for every acceptance criterion'),
});

export const answerShape: z.ZodType<AnswerResult> = z.strictObject({
  answer: textSchema.min(1).describe('Markdown, for the person who asked'),
});

export const pivotShape: z.ZodType<PivotResult> = z.strictObject({
  strategy: textSchema.describe('what the next attempts do differently, for the agents that make them'),
  reason: textSchema.describe('why it may work where the others did not'),
});
