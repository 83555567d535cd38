/** The list items of a section of a Markdown text, each on a line of its own; `null` without such a heading. */
export function itemsUnder(heading: string, markdown: string): readonly string[] | null {
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
