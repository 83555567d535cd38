import { itemsUnder } from './sections.ts';

/** One claim of a report, marked as sourced or not. */
export interface Claim {
  readonly text: string;
  /** Source of the claim; `null` if it is from memory or assumed. */
  readonly source: string | null;
}

const CLAIM = /^\[(?:sourced: *(?<source>[^\]]*[^\]\s])|unsourced)\] +(?<text>\S.*)$/;

/**
 * Reads the claims of a report under `## Claims`: `- [sourced: RFC 4180] …` or `- [unsourced] …`.
 *
 * @returns The problem as text, if the list is missing or a line lacks a mark.
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
