/** The list items of a section of a Markdown text, each on a line of its own; `null` without such a heading. */
export function itemsUnder(heading: string, markdown: string): readonly string[] | null {
  const lines = markdown.split('\n').map((line) => line.trim());
  const start = lines.findIndex((line) => /^#{1,6} /.test(line) && titleOf(line) === heading.toLowerCase());
  if (start === -1) return null;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^#{1,6} /.test(line));
  return (end === -1 ? rest : rest.slice(0, end)).flatMap((line) => /^[-*] +(.+)$/.exec(line)?.[1] ?? []);
}

const titleOf = (line: string): string => line.replace(/^#+ +/, '').toLowerCase();
