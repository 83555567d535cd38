import { describe, expect, test } from 'vitest';
import { type CheckpointSummary, type PrunePolicy, retainedCheckpoints } from '../ThreadPruner.ts';

function aCheckpoint(seq: number, overrides: Partial<CheckpointSummary> = {}): CheckpointSummary {
  return {
    seq,
    checkpointNs: '',
    checkpointId: `c${seq}`,
    parentId: seq === 1 ? null : `c${seq - 1}`,
    rootId: null,
    waiting: false,
    delta: false,
    readsParent: false,
    ...overrides,
  };
}

/** A line of checkpoints c1, c2, … of the root, some of them changed. */
const line = (length: number, changes: Readonly<Record<number, Partial<CheckpointSummary>>> = {}) =>
  Array.from({ length }, (_, index) => aCheckpoint(index + 1, changes[index + 1]));

const kept = (
  all: readonly CheckpointSummary[],
  policy: PrunePolicy = { keepLast: 1 },
): readonly string[] => {
  const retained = retainedCheckpoints(all, policy);
  return all.filter((it) => retained.has(it)).map(({ checkpointId }) => checkpointId);
};

describe('retainedCheckpoints', () => {
  test('keeps the first and the last ones', () => {
    expect(kept(line(6))).toEqual(['c1', 'c6']);
    expect(kept(line(6), { keepLast: 3 })).toEqual(['c1', 'c4', 'c5', 'c6']);
    expect(kept(line(2), { keepLast: 9 })).toEqual(['c1', 'c2']);
    expect(kept([])).toEqual([]);
  });

  test('knows the order by insertion, not by place in the list', () => {
    expect(kept(line(4).toReversed())).toEqual(['c4', 'c1']);
  });

  test('keeps pinned ones and those where something waits', () => {
    expect(kept(line(6, { 4: { waiting: true } }), { keepLast: 1, pinned: ['c2'] })).toEqual([
      'c1',
      'c2',
      'c4',
      'c6',
    ]);
  });

  test('keeps the checkpoint at which branches part', () => {
    const branch = aCheckpoint(7, { parentId: 'c3' });
    expect(kept([...line(6), branch], { keepLast: 2 })).toEqual(['c1', 'c3', 'c6', 'c7']);
  });

  test('keeps the parent of one that reads the writes of its parent', () => {
    expect(kept(line(5, { 5: { readsParent: true } }))).toEqual(['c1', 'c4', 'c5']);
  });

  test('keeps everything of a namespace with delta channels', () => {
    expect(kept(line(4, { 2: { delta: true } }))).toEqual(['c1', 'c2', 'c3', 'c4']);
  });

  test("a subgraph's checkpoints stay with the root's they were made at", () => {
    const of = (seq: number, rootId: string | null, more: Partial<CheckpointSummary> = {}) =>
      aCheckpoint(seq, { checkpointNs: 'sub:task', rootId, ...more });
    const all = [
      ...line(3),
      of(11, 'c1'),
      of(12, 'c2'),
      of(13, 'c3'),
      of(14, null),
      of(15, 'c2', { waiting: true }),
    ];
    expect(kept(all)).toEqual(['c1', 'c3', 'c11', 'c13', 'c14', 'c15']);
  });

  test('everything of a subgraph with a state of its own stays', () => {
    const of = (seq: number, checkpointNs: string) => aCheckpoint(seq, { checkpointNs, rootId: 'c2' });
    expect(kept([...line(3), of(11, 'sub'), of(12, 'outer:task|inner')])).toEqual(['c1', 'c3', 'c11', 'c12']);
  });
});
