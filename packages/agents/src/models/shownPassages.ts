import type { TaskRequest } from '@devs/core';
import { joined, type Lines, type Scored } from './filePassages.ts';
import type { FoundFile } from './lookFor.ts';

/** A passage as it stands in its file. */
export type Passage = NonNullable<TaskRequest['excerpts']>[number];

/** Limits of what is shown, in characters. */
export interface Room {
  readonly all: number;
  readonly file: number;
  /** A file up to this length is shown whole. */
  readonly whole: number;
  readonly files: number;
}

export interface RankedFile extends FoundFile {
  readonly isNamed: boolean;
  readonly score: number;
}

/** The parts of a file that may be shown. */
export interface Blocks {
  readonly blocks: readonly Scored[];
  /** Shown with any of them. */
  readonly head?: Lines;
}

/** A file below this part of the best one's score is left out, and a block below that of its file's best one. */
const FILE_WORTH = 0.5;
const BLOCK_WORTH = 0.3;

/** Named files first, then by their score. */
export function rankedBy(
  files: readonly FoundFile[],
  isNamed: (path: string) => boolean,
  scoreOf: (file: FoundFile) => number,
): readonly RankedFile[] {
  return files
    .map((file) => ({ ...file, isNamed: isNamed(file.path), score: scoreOf(file) }))
    .filter((file) => file.isNamed || file.score > 0)
    .toSorted((a, b) => Number(b.isNamed) - Number(a.isNamed) || b.score - a.score);
}

/** Passages of the best files, as far as there is room. */
export function shownPassages(
  ranked: readonly RankedFile[],
  room: Room,
  blocksOf: (lines: readonly string[]) => Blocks,
): readonly Passage[] {
  const least = FILE_WORTH * Math.max(0, ...ranked.map(({ score }) => score));
  const worthy = ranked.filter(({ isNamed, score }) => isNamed || score >= least).slice(0, room.files);
  const shown: Passage[] = [];
  let left = room.all;
  for (const { path, text } of worthy) {
    const lines = text.split('\n');
    const isWhole = text.length <= Math.min(room.whole, left);
    const parts = isWhole
      ? [{ from: 0, to: lines.length }]
      : chosen(lines, blocksOf(lines), Math.min(room.file, left));
    for (const part of parts) {
      const passage = passageAt(path, lines, part);
      left -= passage.content.length;
      shown.push(passage);
    }
  }
  return shown;
}

/** The best blocks that there is room for, in the order of the file. */
function chosen(
  lines: readonly string[],
  { blocks, head = { from: 0, to: 0 } }: Blocks,
  most: number,
): readonly Lines[] {
  const least = BLOCK_WORTH * Math.max(0, ...blocks.map(({ score }) => score));
  let left = most - lengthOf(lines, head);
  const taken: Scored[] = [];
  for (const block of blocks.toSorted((a, b) => b.score - a.score)) {
    const length = lengthOf(lines, block);
    if (block.score < least || length > left) continue;
    left -= length;
    taken.push(block);
  }
  if (taken.length === 0) return [];
  return joined(head.to === 0 ? taken : [{ ...head, score: 0 }, ...taken]);
}

const lengthOf = (lines: readonly string[], { from, to }: Lines): number =>
  lines.slice(from, to).join('\n').length;

/** Without empty lines at its ends. */
export function passageAt(path: string, lines: readonly string[], { from, to }: Lines): Passage {
  const isFull = (line: string): boolean => line.trim() !== '';
  const own = lines.slice(from, to);
  const first = Math.max(0, own.findIndex(isFull));
  const content = own.slice(first, own.findLastIndex(isFull) + 1).join('\n');
  return { path, fromLine: from + first + 1, content };
}
