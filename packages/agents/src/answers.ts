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

const text = z.string();
const texts = z.array(text);

const documents = z.array(
  z.strictObject({
    type: text.describe('PRD, TAS, RESEARCH, …: one document per type'),
    title: text,
    content: text.describe('Markdown'),
  }),
);

export const documentsShape: z.ZodType<DocumentsResult> = z.strictObject({ documents });

/** With what an agent was told within its stage. */
export const recordedDocumentsShape: z.ZodType<DocumentsResult> = z.strictObject({
  documents,
  toldOf: texts.exactOptional(),
});

export const planShape: z.ZodType<PlanResult> = z.strictObject({
  requirements: z.array(
    z.strictObject({ externalId: text.describe('for example REQ-1'), description: text }),
  ),
  epics: z.array(
    z.strictObject({
      name: text,
      description: text,
      tasks: z.array(
        z.strictObject({
          key: text.describe('short name, unique in the plan'),
          name: text,
          description: text,
          dependsOn: texts.describe('keys of tasks that must be finished before'),
          requirements: texts.describe('external ids of the requirements it traces to'),
          acceptanceCriteria: texts,
          kind: z
            .enum(['test-first', 'behaviour-kept', 'checked-by'])
            .describe('how its work is shown to be right; test-first when left out')
            .exactOptional(),
          checkedBy: text
            .min(1)
            .describe('of a task that is checked-by: one command without a shell, or review')
            .exactOptional(),
        }),
      ),
    }),
  ),
});

export const workShape: z.ZodType<WorkResult> = z.strictObject({
  summary: text,
  files: z.array(z.strictObject({ path: text, content: text.nullable() })),
  wrongTest: text.exactOptional(),
});

export const reviewShape: z.ZodType<ReviewResult> = z.strictObject({
  approved: z.boolean(),
  comments: text.describe('what has to change, or why nothing has to'),
  evidence: z
    .array(
      z.strictObject({
        criterion: text.describe('an acceptance criterion, word for word'),
        shownBy: text.min(1).describe('what shows that it is met: the test, by file and name'),
      }),
    )
    .optional()
    .describe('when approved: one entry for every acceptance criterion'),
});

export const answerShape: z.ZodType<AnswerResult> = z.strictObject({
  answer: text.min(1).describe('Markdown, for the person who asked'),
});

export const pivotShape: z.ZodType<PivotResult> = z.strictObject({
  strategy: text.describe('what the next attempts do differently, for the agents that make them'),
  reason: text.describe('why it may work where the others did not'),
});
