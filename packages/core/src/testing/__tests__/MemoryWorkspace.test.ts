import { describe, expect, test } from 'vitest';
import { MemoryWorkspace } from '../MemoryWorkspace.ts';

const commitOf = (tree: string, stepKey: string) => ({ tree, stepKey, message: `a change\n\nby ${stepKey}` });

describe('a workspace without a disk', () => {
  test('keeps the files of a run apart from those of others, and over a second opening', async () => {
    const workspace = new MemoryWorkspace();
    await (await workspace.open('one')).apply([
      { path: 'b.txt', content: 'b' },
      { path: 'a.txt', content: 'a' },
    ]);
    const again = await workspace.open('one');
    expect(again.dir).toBe(workspace.dirOf('one'));
    expect(await again.list()).toEqual(['a.txt', 'b.txt']);
    expect(await again.read('a.txt')).toBe('a');
    expect(await (await workspace.open('two')).list()).toEqual([]);
  });

  test('goes back to a tree it has seen, and to no other', async () => {
    const run = await new MemoryWorkspace().open('run');
    const empty = await run.snapshot();
    await run.apply([{ path: 'a.txt', content: 'a' }]);
    const full = await run.snapshot();
    await run.apply([{ path: 'a.txt', content: null }]);
    expect(await run.snapshot()).toBe(empty);
    await run.restore(full);
    expect(await run.read('a.txt')).toBe('a');
    await expect(run.restore('unknown')).rejects.toThrow(RangeError);
    await expect(run.read('b.txt')).rejects.toThrow('b.txt');
  });

  test('commits a step once, and names a commit by what it holds and what it follows', async () => {
    const run = await new MemoryWorkspace().open('run');
    const tree = await run.snapshot();
    const first = await run.commit(commitOf(tree, 'step-1'));
    expect(await run.commit(commitOf(tree, 'step-1'))).toBe(first);
    const second = await run.commit({ ...commitOf(tree, 'step-1'), stepKey: 'step-2' });
    expect(second).not.toBe(first);
    expect(await run.log()).toEqual([
      { sha: first, subject: 'a change' },
      { sha: second, subject: 'a change' },
    ]);
  });

  test('puts files of one tree over another, and tells how trees differ', async () => {
    const run = await new MemoryWorkspace().open('run');
    const empty = await run.integrated();
    await run.apply([
      { path: 'a.txt', content: 'a\n' },
      { path: 'b.txt', content: 'b\n' },
    ]);
    const base = await run.snapshot();
    await run.commit(commitOf(base, 'step-1'));
    await run.apply([
      { path: 'a.txt', content: null },
      { path: 'b.txt', content: 'c\n' },
    ]);
    const from = await run.snapshot();
    expect([empty, await run.integrated()]).toEqual([
      await new MemoryWorkspace().open('x').then((x) => x.snapshot()),
      base,
    ]);

    const made = await run.overlay(base, from, ['a.txt', 'none.txt']);
    expect([await run.readAt(made, 'a.txt'), await run.readAt(made, 'b.txt')]).toEqual([null, 'b\n']);
    expect(await run.compare(base, from, 1_000)).toEqual({
      files: [
        { path: 'a.txt', added: 0, removed: 1 },
        { path: 'b.txt', added: 1, removed: 1 },
      ],
      diff: '--- a/a.txt\n+++ b/a.txt\n-a\n--- a/b.txt\n+++ b/b.txt\n-b\n+c\n',
    });
    expect((await run.compare(base, from, 30)).diff).toBe('--- a/a.txt\n+++ b/a.txt\n-a\n[cut]\n');
    expect(await run.snapshot()).toBe(from);
  });
});
