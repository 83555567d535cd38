import { expect, it } from 'vitest';
import type { StoredPiece, TranscriptStore } from '../../state/steps/TranscriptStore.ts';
import { transcript } from '../transcripts.ts';

const PIECES = 500;
const LINES = 3;

/** A run whose one call told a lot; notes which pieces are read. */
function long() {
  const read: number[] = [];
  const piece = (seq: number) => ({
    seq,
    lgTaskId: 'v',
    name: 'call',
    node: 'work',
    attempt: 1,
    taskId: null,
    skipped: 0,
    at: 0,
  });
  const pieces = Array.from({ length: PIECES }, (_, at) => piece(at + 1));
  const store = {
    pieces: (_: string, afterSeq = 0) => pieces.filter(({ seq }) => seq > afterSeq),
    entriesOf: ({ seq }: Pick<StoredPiece, 'seq'>) => {
      read.push(seq);
      return Array.from({ length: LINES }, (_, line) => [0, { kind: 'text', text: `${seq}.${line}` }]);
    },
  } as unknown as TranscriptStore;
  return { store, read };
}

it('a page of a transcript reads no text after it, and what was written together is in one page', () => {
  const { store, read } = long();
  const seqs = transcript('run', { afterSeq: 10, limit: 4 }, store).map(({ seq }) => seq);
  expect(seqs).toEqual([11, 11, 11, 12, 12, 12]);
  expect(read).toEqual([11, 12]);
});

it('all of a transcript is told where there is no limit; a limit of none is refused', () => {
  const { store } = long();
  expect(transcript('run', {}, store)).toHaveLength(PIECES * LINES);
  for (const limit of [0, -1, Number.NaN])
    expect(() => transcript('run', { limit }, store)).toThrow(RangeError);
});
