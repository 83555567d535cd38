import type { DocumentsResult, DraftDocument } from '@devs/core';
import { readClaims } from './claims.ts';
import { itemsUnder } from './sections.ts';

const REPORTS = ['MARKET', 'COMPETITION', 'TECHNOLOGY', 'USERS'] as const;
const DESIGN = ['PRD', 'TAS'] as const;
const WHERE_THEY_APPLY = ['MCP_DESIGN', 'SECURITY', 'UI_UX'] as const;

/** What is wrong with the reports of research: one is missing, or has claims without a mark. */
export function reportProblems({ documents }: DocumentsResult): readonly string[] {
  const unmarked = documents.flatMap(({ type, content }) => {
    const claims = readClaims(content);
    return typeof claims === 'string' ? [`${type}: ${claims}`] : [];
  });
  return [...missing(REPORTS, documents), ...unmarked];
}

/** What is wrong with a design: a document is missing, and nothing in the `TAS` says why it does not apply. */
export function designProblems({ documents }: DocumentsResult): readonly string[] {
  const architecture = documents.find(({ type }) => type === 'TAS')?.content ?? '';
  const reasons = itemsUnder('Left out', architecture) ?? [];
  const silent = WHERE_THEY_APPLY.filter(
    (name) => !has(documents, name) && !reasons.some((reason) => reason.startsWith(`${name}: `)),
  );
  return [
    ...missing(DESIGN, documents),
    ...silent.map((name) => `${name} is neither handed in nor under "## Left out" of the TAS with a reason`),
  ];
}

const has = (documents: readonly DraftDocument[], name: string): boolean =>
  documents.some(({ type }) => type === name);

const missing = (names: readonly string[], documents: readonly DraftDocument[]): readonly string[] =>
  names.filter((name) => !has(documents, name)).map((name) => `${name} is missing`);
