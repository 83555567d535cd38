import type { DocumentsResult, DraftDocument } from '@devs/core';
import type { PromptVersion } from './loadPrompts.ts';
import { itemsUnder, readClaims } from './sections.ts';

const REPORTS = ['MARKET', 'COMPETITION', 'TECHNOLOGY', 'USERS'] as const;
const DESIGN = ['PRD', 'TAS'] as const;
const WHERE_THEY_APPLY = ['MCP_DESIGN', 'SECURITY', 'UI_UX'] as const;

/** What the documents of a stage are held to; the prompts of that version ask for it. */
export interface DocumentRules {
  readonly reports: (answer: DocumentsResult) => readonly string[];
  readonly design: (answer: DocumentsResult) => readonly string[];
}

export const DOCUMENT_RULES: Readonly<Record<PromptVersion, DocumentRules>> = {
  v1: { reports: fourReportProblems, design: wholeDesignProblems },
  v2: { reports: reportProblems, design: designProblems },
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
