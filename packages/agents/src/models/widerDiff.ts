/** A part of a unified diff: the lines before the hunks of a file, and these. */
interface FilePart {
  readonly head: string[];
  readonly hunks: Hunk[];
}

interface Hunk {
  /** Lines before it, in the old and the new file. */
  readonly old: number;
  readonly new: number;
  /** Behind the ranges. */
  readonly around: string;
  readonly body: string[];
  /** Lines that a diff of limited length lacks. */
  readonly missing: { old: number; new: number };
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/;

/**
 * A unified diff with more lines around the changes of its files, as git would print it.
 *
 * @param more - Lines before and after each hunk that are added.
 * @param read - The new text of a file; `null` leaves the file as it is in the diff.
 */
export async function widerDiff(
  diff: string,
  more: number,
  read: (path: string) => Promise<string | null>,
): Promise<string> {
  const lines: string[] = [];
  for (const part of partsOf(diff)) {
    const path = pathOf(part);
    const text = path === null ? null : await read(path);
    const hunks = text === null ? part.hunks : widened(part.hunks, text.split('\n'), more);
    lines.push(...part.head, ...hunks.flatMap(hunkLines));
  }
  return lines.join('\n');
}

/** `null` for a file that is new or gone. */
function pathOf({ head }: FilePart): string | null {
  const [before = '', after = ''] = head.slice(-2);
  return before.startsWith('--- a/') && after.startsWith('+++ b/') ? after.slice('+++ b/'.length) : null;
}

/** A removed line may look like the head of a file, so the lines of a hunk are counted. */
function partsOf(diff: string): readonly FilePart[] {
  const parts: FilePart[] = [];
  for (const line of diff.split('\n')) {
    const part = parts.at(-1);
    const hunk = part?.hunks.at(-1);
    const begun = HUNK.exec(line);
    if (hunk !== undefined && isOf(hunk, line)) addLine(hunk, line);
    else if (part !== undefined && begun !== null) part.hunks.push(hunkFrom(begun));
    else if (part === undefined || hunk !== undefined) parts.push({ head: [line], hunks: [] });
    else part.head.push(line);
  }
  return parts;
}

const isOf = ({ missing }: Hunk, line: string): boolean =>
  line.startsWith('\\') || missing.old + missing.new > 0;

function addLine({ body, missing }: Hunk, line: string): void {
  if (/^[ -]/.test(line)) missing.old -= 1;
  if (/^[ +]/.test(line)) missing.new -= 1;
  body.push(line);
}

function hunkFrom([, old = '', olds = '1', now = '', news = '1', around = '']: RegExpExecArray): Hunk {
  const missing = { old: Number(olds), new: Number(news) };
  // A side without lines begins at the line before, by git's count.
  const before = (at: string, count: number): number => Number(at) - (count === 0 ? 0 : 1);
  return { old: before(old, missing.old), new: before(now, missing.new), around, body: [], missing };
}

/** As they are where they do not fit the file. */
function widened(hunks: readonly Hunk[], lines: readonly string[], more: number): readonly Hunk[] {
  if (!hunks.every((hunk) => fits(hunk, lines))) return hunks;
  const last = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  const wide: Hunk[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const before = wide.at(-1);
    const begin = before === undefined ? 0 : endOf(before);
    const from = Math.max(begin, hunk.new - more);
    const to = Math.max(endOf(hunk), Math.min(hunks[index + 1]?.new ?? last, endOf(hunk) + more));
    const body = [
      ...lines.slice(from, hunk.new).map((line) => ` ${line}`),
      ...hunk.body,
      ...lines.slice(endOf(hunk), to).map((line) => ` ${line}`),
      ...(to > endOf(hunk) && to === lines.length ? [NO_NEWLINE] : []),
    ];
    if (before !== undefined && from === begin) before.body.push(...body);
    else wide.push({ ...hunk, new: from, old: hunk.old - (hunk.new - from), body });
  }
  return wide;
}

const NO_NEWLINE = String.raw`\ No newline at end of file`;

const newLines = ({ body }: Hunk): readonly string[] =>
  body.flatMap((line) => (/^[ +]/.test(line) ? [line.slice(1)] : []));

const endOf = (hunk: Hunk): number => hunk.new + newLines(hunk).length;

const fits = (hunk: Hunk, lines: readonly string[]): boolean =>
  hunk.missing.old + hunk.missing.new === 0 &&
  newLines(hunk).every((line, index) => lines[hunk.new + index] === line);

function hunkLines(hunk: Hunk): readonly string[] {
  const { body, missing } = hunk;
  const range = (before: number, count: number): string => `${count === 0 ? before : before + 1},${count}`;
  const old = range(hunk.old, missing.old + body.filter((line) => /^[ -]/.test(line)).length);
  const now = range(hunk.new, missing.new + newLines(hunk).length);
  return [`@@ -${old} +${now} @@${hunk.around}`, ...body];
}
