import { formatPatch, OMIT_HEADERS, type StructuredPatch, structuredPatch } from 'diff';

/** Lines added and removed that are searched for. Beyond, the whole file counts as replaced: the search blocks the process. */
const MOST_CHANGED = 800;

/**
 * A change of a file as a unified diff. Where the last line feed is missing, it is added.
 *
 * @param before - `null` for a file that is created.
 * @param after - `null` for one that is deleted.
 */
export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  const [old, now] = [withFinalLineFeed(before), withFinalLineFeed(after)];
  const options = { context: 3, maxEditLength: MOST_CHANGED };
  const patch = structuredPatch('', '', old, now, '', '', options) ?? wholeFile(old, now);
  const [from, to] = [
    before === null ? '/dev/null' : `a/${path}`,
    after === null ? '/dev/null' : `b/${path}`,
  ];
  return `--- ${from}\n+++ ${to}\n${formatPatch(patch, OMIT_HEADERS)}`;
}

const withFinalLineFeed = (text: string | null): string =>
  text === null || text === '' || text.endsWith('\n') ? (text ?? '') : `${text}\n`;

function wholeFile(before: string, after: string): StructuredPatch {
  const [old, now] = [before.split('\n').slice(0, -1), after.split('\n').slice(0, -1)];
  const lines = [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)];
  const size = { oldStart: 1, oldLines: old.length, newStart: 1, newLines: now.length };
  return { ...UNNAMED, hunks: [{ ...size, lines }] };
}

const UNNAMED = { oldFileName: '', newFileName: '', oldHeader: '', newHeader: '' } as const;
