/** A file before and after a change; `null` where there is none, or it is no text. */
export interface FileVersions {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Lines that one text has and the other has not, trimmed, empty ones left out; one that moved is in neither. */
export function linesOnlyIn(text: string | null, other: string | null): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of trimmedLines(other)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return trimmedLines(text).filter((line) => {
    const left = counts.get(line) ?? 0;
    counts.set(line, left - 1);
    return left <= 0;
  });
}

const trimmedLines = (text: string | null): readonly string[] =>
  (text ?? '')
    .split('\n')
    .map((line) => line.trim().replace(/,$/, ''))
    .filter((line) => line !== '');
