import { structuredPatch } from 'diff';
import { type Line, textOfAll } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import {
  artifactLines,
  decidedFirst,
  isShownDocuments,
  isShownTasks,
  type ShownDocuments,
} from './renderArtifact.ts';

/** Lines around a change that are shown with it. */
const CONTEXT = 3;

/** Whether it is a proposal that has versions; other gates are short and about one moment. */
export const hasChanges = (artifact: unknown): boolean =>
  isShownDocuments(artifact) || isShownTasks(artifact);

/** How two versions of what a gate shows, masked as it masks, differ: a summary of the documents, then the changed lines. */
export function artifactChanges(before: unknown, now: unknown): readonly Line[] {
  if (isShownDocuments(before) && isShownDocuments(now)) return documentChanges(before, now);
  return [...hunks(textOfAll(artifactLines(before)), textOfAll(artifactLines(now))), ''];
}

type ArtifactDocument = ShownDocuments['documents'][number];

function documentChanges(
  { documents: before }: ShownDocuments,
  { documents }: ShownDocuments,
): readonly Line[] {
  const now = decidedFirst(documents);
  const old = new Map(before.map((document) => [document.type, document]));
  const gone = before.filter(({ type }) => !documents.some((document) => document.type === type));
  const changed = now.filter((document) => !isSameDocument(document, old.get(document.type)));
  return [
    ...now.map((document) => oneLine(documentSummary(document, old.get(document.type)))),
    ...gone.map(({ type, title }) => oneLine(`${type}: ${title}, removed`)),
    '',
    ...changed.flatMap((document) => [
      {
        style: 'bold',
        text: oneLine(`── ${document.type}: ${document.title} (version ${document.version})`),
      } as const,
      ...hunks(old.get(document.type)?.content ?? '', document.content),
      '',
    ]),
  ];
}

function documentSummary(document: ArtifactDocument, before: ArtifactDocument | undefined): string {
  const { type, title, content, version } = document;
  const lines = `${content.trimEnd().split('\n').length} lines`;
  if (before === undefined) return `${type}: ${title}, new, ${lines}`;
  if (isSameDocument(document, before)) return `${type}: ${title}, unchanged`;
  const headings = changedHeadings(before.content, content);
  const where = headings.length === 0 ? '' : `, in ${headings.join('; ')}`;
  return `${type}: ${title}, version ${before.version} → ${version}, ${lines}${where}`;
}

function isSameDocument({ title, content }: ArtifactDocument, before: ArtifactDocument | undefined): boolean {
  return before !== undefined && before.title === title && before.content === content;
}

/** The headings under which something was changed. */
function changedHeadings(before: string, now: string): readonly string[] {
  const lines = now.split('\n');
  const found = patchOf(before, now, 0).map(({ newStart, newLines }) => {
    const upTo = lines.slice(0, newStart - 1 + Math.max(1, newLines));
    return upTo.findLast((line) => /^#{1,6} /.test(line))?.replace(/^#+ /, '');
  });
  return [...new Set(found.filter((heading) => heading !== undefined))];
}

function hunks(before: string, now: string): readonly Line[] {
  return patchOf(before, now, CONTEXT).flatMap(({ oldStart, newStart, lines }) => [
    { style: 'dim', text: `@@ line ${oldStart} → ${newStart} @@` } as const,
    ...lines.filter((line) => !line.startsWith('\\')).map((text) => ({ style: 'diff', text }) as const),
  ]);
}

function patchOf(before: string, now: string, context: number) {
  return structuredPatch('', '', withLineEnd(before), withLineEnd(now), '', '', { context }).hunks;
}

/** A missing last line feed is no change. */
const withLineEnd = (text: string): string => (text === '' ? '' : `${text.trimEnd()}\n`);
