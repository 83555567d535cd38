import {
  type AnswerResult,
  type DocumentsResult,
  type DraftDocument,
  isDevsError,
  type PivotResult,
  type PlanResult,
  type ReviewResult,
  type TaskRequest,
  type WorkResult,
} from '@devs/core';
import { assertPlan, unknownFilesIn } from '@devs/core/internal';
import { z } from 'zod';
import { answerShape, documentsShape, pivotShape, planShape, reviewShape } from '../answers.ts';
import type { FileDesk } from './FileDesk.ts';
import type { ModelStage, PromptVersion } from './loadPrompts.ts';

/** The tool whose call ends a conversation; its input is the answer. */
export interface AnswerTool<Answer> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<Answer>;
  /** What speaks against a valid answer, in words for the agent; it may be given again all the same. */
  objection?(answer: Answer): string | null;
}

export const submitReports = (prompts: PromptVersion): AnswerTool<DocumentsResult> =>
  submitDocuments(DOCUMENT_RULES[prompts].reports);

export const submitDesign = (prompts: PromptVersion): AnswerTool<DocumentsResult> =>
  submitDocuments(DOCUMENT_RULES[prompts].design);

/**
 * A design that names files which are not there is objected to, once in the stage; what it says then is the answer.
 *
 * @param files - Of the repository.
 */
export function withKnownFiles(
  tool: AnswerTool<DocumentsResult>,
  files: readonly string[],
): AnswerTool<DocumentsResult> {
  let toldOf: readonly string[] | null = null;
  return {
    ...tool,
    schema: tool.schema.transform((answer) => (toldOf === null ? answer : { ...answer, toldOf })),
    objection: ({ documents }) => {
      const unknown = unknownFilesIn(documents, files);
      if (toldOf !== null || unknown.length === 0) return null;
      toldOf = unknown;
      return `The repository does not have ${unknown.join(', ')}. Look at what is there, and name those files or say which are new; then call ${tool.name} again, whole.`;
    },
  };
}

export const submitPlan: AnswerTool<PlanResult> = {
  name: 'submit_plan',
  description: 'Hands in requirements, epics and tasks. Ends the stage.',
  schema: planShape.superRefine((plan, context) => {
    const problem = planProblem(plan);
    if (problem !== null) context.addIssue({ code: 'custom', path: ['epics'], message: problem });
  }),
};

/** An approval shows for each criterion of the task what meets it. */
export function submitReview({ acceptanceCriteria }: TaskRequest['task']): AnswerTool<ReviewResult> {
  return {
    name: 'submit_review',
    description: 'Hands in the verdict. Ends the stage.',
    schema: reviewShape.superRefine(({ approved, evidence = [] }, context) => {
      const shown = new Set(evidence.map(({ criterion }) => criterion.trim()));
      const open = approved ? acceptanceCriteria.filter((criterion) => !shown.has(criterion.trim())) : [];
      for (const criterion of open) {
        context.addIssue({ code: 'custom', path: ['evidence'], message: `nothing shows "${criterion}"` });
      }
    }),
  };
}

export const submitAnswer: AnswerTool<AnswerResult> = {
  name: 'submit_answer',
  description: 'Answers the person. Ends the conversation.',
  schema: answerShape,
};

export const submitStrategy: AnswerTool<PivotResult> = {
  name: 'submit_strategy',
  description: 'Hands in the strategy. Ends the stage.',
  schema: pivotShape,
};

/**
 * Ends a stage that edits: the answer is the edits on the desk. The tool is the same in each stage, so that the provider's
 * cached beginning stays valid. Only `implement` may name a wrong test.
 */
export function finishWith(desk: FileDesk, stage: ModelStage): AnswerTool<WorkResult> {
  const summary = z.string().min(1).describe('what was changed and why, in one or two sentences');
  const wrongTest = z.string().min(1).describe(WRONG_TEST).exactOptional();
  const message = z.string().min(1).describe(COMMIT_MESSAGE).exactOptional();
  const schema = z
    .object({ summary, wrong_test: wrongTest, commit_message: message })
    .transform(({ wrong_test: wrong, commit_message: written, ...said }) => ({
      ...said,
      ...leftOn(desk),
      ...(wrong !== undefined && stage === 'implement' && { wrongTest: wrong }),
      ...(written !== undefined && stage === 'document' && { message: written }),
    }));
  return { name: 'finish', description: 'Hands in the edits made so far. Ends the stage.', schema };
}

/** Returns an unsuitable commit message once; the second one counts. */
export function withCommitStyle(
  tool: AnswerTool<WorkResult>,
  commit: NonNullable<TaskRequest['commit']>,
): AnswerTool<WorkResult> {
  let isTold = false;
  return {
    ...tool,
    objection: ({ message }) => {
      const problems = message === undefined ? [] : commit.problems(message);
      if (isTold || problems.length === 0) return null;
      isTold = true;
      return `The commit_message cannot be used: ${problems.join('; ')}. Call ${tool.name} again, with one as <commit_style> has it.`;
    },
  };
}

const leftOn = ({ edits, passages }: FileDesk): Pick<WorkResult, 'files' | 'read'> => ({
  files: edits,
  ...(passages.length > 0 && { read: passages }),
});

const WRONG_TEST =
  'of the stage implement, only when a test of this task asks for something wrong: which, and why; it is then written again';

const COMMIT_MESSAGE =
  'of the stage document, where it is given a commit_style: the message of the commit of this task';

function submitDocuments(
  problemsIn: (answer: DocumentsResult) => readonly string[],
): AnswerTool<DocumentsResult> {
  return {
    name: 'submit_documents',
    description: 'Hands in the documents of this stage, all of them, whole. Ends the stage.',
    schema: documentsShape.superRefine((answer, context) => {
      const types = answer.documents.map(({ type }) => type);
      const problems = [
        ...(new Set(types).size < types.length ? ['a type is used twice'] : []),
        ...(types.includes('BRIEF') ? ['the brief belongs to the human and cannot be replaced'] : []),
        ...problemsIn(answer),
      ];
      for (const message of problems) context.addIssue({ code: 'custom', path: ['documents'], message });
    }),
  };
}

/** The engine would refuse such a plan later, when the model is not asked any more; a human would miss the traces. */
function planProblem(plan: PlanResult): string | null {
  if (plan.epics.length === 0) return 'at least one epic is needed';
  try {
    assertPlan(plan);
    return untracedIn(plan);
  } catch (error) {
    if (isDevsError(error, 'DAG_INVALID')) return error.message;
    throw error;
  }
}

/** What a plan leaves untraced: from requirement to task and back, and what a task is judged by; `null` for nothing. */
function untracedIn({ requirements, epics }: PlanResult): string | null {
  const tasks = epics.flatMap((epic) => epic.tasks);
  const traced = new Set(tasks.flatMap((task) => task.requirements));
  const problems = [
    ...tasks
      .filter((task) => task.requirements.length === 0)
      .map(({ key }) => `the task "${key}" traces to no requirement`),
    ...tasks
      .filter((task) => task.acceptanceCriteria.length === 0)
      .map(({ key }) => `the task "${key}" has no acceptance criterion`),
    ...tasks
      .filter(({ kind, checkedBy }) => kind === 'checked-by' && checkedBy === undefined)
      .map(({ key }) => `the task "${key}" is checked-by, and checkedBy does not say what shows it`),
    ...requirements
      .filter(({ externalId }) => !traced.has(externalId))
      .map(({ externalId }) => `no task traces to the requirement "${externalId}"`),
  ];
  return problems.length === 0 ? null : `${problems.join('; ')}.`;
}

const REPORTS = ['MARKET', 'COMPETITION', 'TECHNOLOGY', 'USERS'] as const;
const DESIGN = ['PRD', 'TAS'] as const;
const WHERE_THEY_APPLY = ['MCP_DESIGN', 'SECURITY', 'UI_UX'] as const;

/** What the documents of a stage are held to; the prompts of that version ask for it. */
interface DocumentRules {
  readonly reports: (answer: DocumentsResult) => readonly string[];
  readonly design: (answer: DocumentsResult) => readonly string[];
}

const DOCUMENT_RULES: Readonly<Record<PromptVersion, DocumentRules>> = {
  v1: { reports: fourReportProblems, design: wholeDesignProblems },
  v2: { reports: reportProblems, design: designProblems },
  v3: { reports: reportProblems, design: designProblems },
  v4: { reports: reportProblems, design: designProblems },
};

/** One report at least, and every claim marked. */
function reportProblems({ documents }: DocumentsResult): readonly string[] {
  return documents.length === 0 ? ['there is no report'] : unmarkedClaims(documents);
}

function designProblems({ documents }: DocumentsResult): readonly string[] {
  return missingDocuments(DESIGN, documents);
}

/** What is wrong with the reports of research: one is missing, or has claims without a mark. */
function fourReportProblems({ documents }: DocumentsResult): readonly string[] {
  return [...missingDocuments(REPORTS, documents), ...unmarkedClaims(documents)];
}

/** What is wrong with a design: a document is missing, and nothing in the `TAS` says why it does not apply. */
function wholeDesignProblems({ documents }: DocumentsResult): readonly string[] {
  const architecture = documents.find(({ type }) => type === 'TAS')?.content ?? '';
  const reasons = itemsUnder('Left out', architecture) ?? [];
  const silent = WHERE_THEY_APPLY.filter(
    (name) => !hasDocument(documents, name) && !reasons.some((reason) => reason.startsWith(`${name}: `)),
  );
  return [
    ...missingDocuments(DESIGN, documents),
    ...silent.map((name) => `${name} is neither handed in nor under "## Left out" of the TAS with a reason`),
  ];
}

function unmarkedClaims(documents: readonly DraftDocument[]): readonly string[] {
  return documents.flatMap(({ type, content }) => {
    const claims = readClaims(content);
    return typeof claims === 'string' ? [`${type}: ${claims}`] : [];
  });
}

const hasDocument = (documents: readonly DraftDocument[], name: string): boolean =>
  documents.some(({ type }) => type === name);

const missingDocuments = (names: readonly string[], documents: readonly DraftDocument[]): readonly string[] =>
  names.filter((name) => !hasDocument(documents, name)).map((name) => `${name} is missing`);

/** The list items of a section of a Markdown text, each on a line of its own; `null` without such a heading. */
function itemsUnder(heading: string, markdown: string): readonly string[] | null {
  const lines = markdown.split('\n').map((line) => line.trim());
  const start = lines.findIndex(
    (line) => /^#{1,6} /.test(line) && headingTitle(line) === heading.toLowerCase(),
  );
  if (start === -1) return null;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^#{1,6} /.test(line));
  return (end === -1 ? rest : rest.slice(0, end)).flatMap((line) => /^[-*] +(.+)$/.exec(line)?.[1] ?? []);
}

const headingTitle = (line: string): string => line.replace(/^#+ +/, '').toLowerCase();

/** One claim of a report, with the mark that tells a human how far to trust it. */
interface Claim {
  readonly text: string;
  /** What the claim rests on; `null` for one from memory, or assumed. */
  readonly source: string | null;
}

const CLAIM = /^\[(?:sourced: *(?<source>[^\]]*[^\]\s])|unsourced)\] +(?<text>\S.*)$/;

/**
 * The claims a report lists under `## Claims`: `- [sourced: RFC 4180] …` or `- [unsourced] …`.
 *
 * @returns What is wrong instead, in words, when there is no such list or a line without a mark.
 */
export function readClaims(report: string): readonly Claim[] | string {
  const items = itemsUnder('Claims', report);
  if (items === null || items.length === 0) return 'it lists no claims under "## Claims"';
  const claims: Claim[] = [];
  for (const item of items) {
    const { source = null, text } = CLAIM.exec(item)?.groups ?? {};
    if (text === undefined) {
      return `"${item.slice(0, 60)}" is marked neither "[sourced: reference]" nor "[unsourced]"`;
    }
    claims.push({ text, source });
  }
  return claims;
}
