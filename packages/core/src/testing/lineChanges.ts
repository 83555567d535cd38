import type { FileChange } from '../orchestration/ports.ts';

type Files = Readonly<Record<string, string>>;

/** The files in which two folders differ, with the lines that only one of them has. */
export function lineChanges(before: Files, after: Files): readonly FileChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return paths
    .filter((path) => before[path] !== after[path])
    .map((path) => {
      const [old, now] = [linesOf(before[path]), linesOf(after[path])];
      return { path, added: without(now, old), removed: without(old, now) };
    });
}

const linesOf = (content = ''): readonly string[] => content.split('\n').slice(0, -1);

const without = (lines: readonly string[], others: readonly string[]): number =>
  lines.filter((line) => !others.includes(line)).length;
