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
});
