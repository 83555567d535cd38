/** Lines of a file, the first of them 0. */
export interface Lines {
  readonly from: number;
  /** Behind the last one. */
  readonly to: number;
}

/** Lines that are worth being shown, with their points. */
export interface Scored extends Lines {
  readonly score: number;
}

/** Points of a name: a rare one has more. */
export type NameWeights = ReadonlyMap<string, number>;

/** Lines of a block that are shown. */
const MAX_BLOCK = 60;
/** Lines around a line that only mentions a name. */
const BEFORE = 4;
const AFTER = 8;
/** Lines of imports. */
const MAX_HEAD = 20;
/** A definition, or a heading, counts as this many mentions. */
const DEFINITION = 4;

/** The blocks of a source that define or mention names, in their order and without overlap. */
export function sourceBlocks(lines: readonly string[], weights: NameWeights): readonly Scored[] {
  const found = lines.flatMap((line, at) => {
    const score = lineScore(line, weights);
    return score === 0 ? [] : [{ ...blockAt(lines, at), score }];
  });
  const blocks: Scored[] = [];
  for (const next of found.toSorted((a, b) => a.from - b.from)) {
    const last = blocks.at(-1);
    if (last === undefined || next.from >= last.to) blocks.push(next);
    else if (next.to - last.from <= MAX_BLOCK) blocks[blocks.length - 1] = union(last, next);
    else blocks.push({ ...next, from: last.to, to: Math.max(last.to, next.to) });
  }
  return blocks;
}

const union = (one: Scored, other: Scored): Scored => ({
  from: one.from,
  to: Math.max(one.to, other.to),
  score: one.score + other.score,
});

/** The sections of a Markdown text that mention names, each up to the next heading. */
export function markdownSections(lines: readonly string[], weights: NameWeights): readonly Scored[] {
  const heads = headingsOf(lines).map(({ at }) => at);
  const starts = heads[0] === 0 ? heads : [0, ...heads];
  return starts.flatMap((from, index) => {
    const to = Math.min(starts[index + 1] ?? lines.length, from + MAX_BLOCK);
    const inHead = sum(
      [...weights].filter(([name]) => hasName(lines[from] ?? '', name)).map(([, each]) => each),
    );
    const body = lines.slice(from + 1, to).join('\n');
    const inBody = sum([...weights].filter(([name]) => hasName(body, name)).map(([, each]) => each));
    const score = DEFINITION * inHead + inBody;
    return score === 0 ? [] : [{ from, to, score }];
  });
}

export interface Heading {
  readonly at: number;
  readonly level: number;
}

/** Headings of a Markdown text, outside of fences. */
export function headingsOf(lines: readonly string[]): readonly Heading[] {
  let isFenced = false;
  return lines.flatMap((line, at) => {
    if (/^\s*(?:```|~~~)/.test(line)) isFenced = !isFenced;
    const level = isFenced ? undefined : /^(#{1,6}) /.exec(line)?.[1]?.length;
    return level === undefined ? [] : [{ at, level }];
  });
}

const HEAD_LINE =
  /^(?:import|from|use|using|package|require|#|\/\/|\/\*| \*|\} from|(?:const|var|let) .*\brequire\()|^\s*$|^\s+\w[\w, ]*$/;

/** The imports at the beginning of a source, with the comments among them. */
export function headOf(lines: readonly string[]): Lines {
  const first = lines.slice(0, MAX_HEAD);
  const end = first.findIndex((line) => !HEAD_LINE.test(line));
  const head = end === -1 ? first : first.slice(0, end);
  return { from: 0, to: head.findLastIndex((line) => line.trim() !== '') + 1 };
}

/** Whether a text has a name as a whole word. */
export const hasName = (text: string, name: string): boolean => placeOf(text, name) !== -1;

function placeOf(text: string, name: string): number {
  let at = text.indexOf(name);
  while (at !== -1 && (isWord(text[at - 1]) || isWord(text[at + name.length])))
    at = text.indexOf(name, at + 1);
  return at;
}

const isWord = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_$]/u.test(character);

/** Points of a text: a definition of a name counts more than any number of mentions. */
export function mentionsOf(text: string, weights: NameWeights): number {
  const lines = text.split('\n');
  let score = 0;
  for (const [name, weight] of weights) {
    if (!hasName(text, name)) continue;
    score += lines.some((line) => isDefinitionOf(line, name)) ? DEFINITION * weight : weight;
  }
  return score;
}

function lineScore(line: string, weights: NameWeights): number {
  let score = 0;
  for (const [name, weight] of weights)
    if (hasName(line, name)) score += isDefinitionOf(line, name) ? DEFINITION * weight : weight;
  return score;
}

const DEFINES =
  /\b(?:function|class|interface|type|enum|struct|trait|module|namespace|def|fn|func|const|let|var|val)\b[^=({;]*$/;
const MEMBER_BEFORE = /^\s*(?:(?:export|public|private|protected|static|async|get|set|readonly)\s+)*["']?$/;

/** Whether a line defines a name: a declaration, a method, or a member of an object. */
function isDefinitionOf(line: string, name: string): boolean {
  const at = placeOf(line, name);
  if (at === -1) return false;
  const before = line.slice(0, at);
  const after = line.slice(at + name.length);
  if (DEFINES.test(before)) return true;
  return (
    MEMBER_BEFORE.test(before) &&
    (/^["']?\??\s*:/.test(after) || (/^[(<]/.test(after) && /[{:]\s*$/.test(after)))
  );
}

/** The block that a line begins, with the comment above it; else some lines around it. */
function blockAt(lines: readonly string[], at: number): Lines {
  const own = indentOf(lines[at] ?? '');
  const next = lines.slice(at + 1).find((line) => line.trim() !== '');
  if (next === undefined || indentOf(next) <= own)
    return { from: Math.max(0, at - BEFORE), to: Math.min(lines.length, at + AFTER) };
  let from = at;
  while (from > 0 && at - from < MAX_BLOCK / 2 && isComment(lines[from - 1] ?? '')) from -= 1;
  const end = lines.findIndex((line, index) => index > at && line.trim() !== '' && indentOf(line) <= own);
  const isClosed = end !== -1 && /^\s*(?:[)\]}]|end\b)/.test(lines[end] ?? '');
  const to = end === -1 ? lines.length : end + (isClosed ? 1 : 0);
  return { from, to: Math.min(to, at + MAX_BLOCK) };
}

const isComment = (line: string): boolean => /^\s*(?:\/\/|\/\*|\*|#|@|"""|--)/.test(line);

const indentOf = (line: string): number => /^\s*/.exec(line)?.[0].length ?? 0;

/** Blocks in their order; those that touch are one. */
export function joined(blocks: readonly Scored[]): readonly Scored[] {
  const all: Scored[] = [];
  for (const next of blocks.toSorted((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last === undefined || next.from > last.to) all.push(next);
    else all[all.length - 1] = union(last, next);
  }
  return all;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
