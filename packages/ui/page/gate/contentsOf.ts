import { decidedDocumentsFirst, isDocuments, isPlan } from '../artifacts.ts';
import { taskTag } from '../words.ts';

/** A part of an artifact. */
export interface ContentsItem {
  readonly words: string;
  /** As comments name it. */
  readonly place: string;
  /** Its first line in that place, and the first one after it; `null` for all of it. */
  readonly from: number | null;
  readonly until: number | null;
}

export interface ContentsGroup {
  readonly title: string;
  readonly items: readonly ContentsItem[];
}

/** The parts of documents or of a plan; empty for anything else. Pure. */
export function contentsOf(artifact: unknown): readonly ContentsGroup[] {
  if (isDocuments(artifact)) {
    return decidedDocumentsFirst(artifact.documents).map(({ type, title, content }) => ({
      title,
      items: headingsOf(type, title, content),
    }));
  }
  if (!isPlan(artifact)) return [];
  const tasks = artifact.tasks.map(({ taskId, name }) => ({
    ...{ words: `${taskTag(taskId)} ${name}`, place: taskTag(taskId) },
    ...{ from: null, until: null },
  }));
  return [{ title: 'Plan', items: tasks }];
}

/** Headings of a text in Markdown; the whole text if it does not have any. */
function headingsOf(place: string, title: string, text: string): readonly ContentsItem[] {
  const found: { words: string; from: number }[] = [];
  let isCode = false;
  for (const [at, line] of text.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    const [, words] = isCode ? [] : (/^#{1,3}\s+(.+?)\s*#*$/.exec(line) ?? []);
    if (words !== undefined) found.push({ words: words.replaceAll(/[*_`]/g, ''), from: at + 1 });
  }
  if (found.length === 0) return [{ words: title, place, from: null, until: null }];
  return found.map(({ words, from }, at) => ({ words, place, from, until: found[at + 1]?.from ?? null }));
}

/** Whether a line of a place is in a part. Pure. */
export const isInItem = ({ from, until }: ContentsItem, line: number): boolean =>
  (from === null || line >= from) && (until === null || line < until);
