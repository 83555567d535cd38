import type { DocumentsResult, DraftDocument } from '@devs/core';
import type { PromptVersion } from './loadPrompts.ts';

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
export interface Claim {
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
