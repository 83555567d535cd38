import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unifiedDiff } from '../unifiedDiff.ts';

const lines = (count: number, word: string): string =>
  Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join('');

describe('unifiedDiff', () => {
  it('turns one text into the other, whatever is in both', () => {
    const line = fc.constantFrom('a', 'b', '', '-', '+ b', '@@ -1 +1 @@', '--- a/x', 'c\r', '\\ No newline');
    const text = fc.array(line).map((all) => all.map((each) => `${each}\n`).join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(applyPatch(before, unifiedDiff('x', before, after))).toBe(after);
      }),
    );
  });

  it('names each place that differs, and nothing for a missing last line feed', () => {
    const [before, after] = [`first\n${lines(100, 'line')}last`, `erste\n${lines(100, 'line')}letzte\n`];
    const diff = unifiedDiff('ä "x".js', before, after);
    expect(diff.match(/^@@.*@@$/gm)).toEqual(['@@ -1,4 +1,4 @@', '@@ -99,4 +99,4 @@']);
    expect(diff.startsWith('--- a/ä "x".js\n+++ b/ä "x".js\n@@')).toBe(true);
    expect(unifiedDiff('x', 'same', 'same\n')).not.toContain('@@');
  });

  it('replaces a text of which everything is new, without a search', () => {
    const [before, after] = [lines(3000, 'old'), lines(3000, 'new')];
    const diff = unifiedDiff('x', before, after);
    expect(diff).toContain('\n@@ -1,3000 +1,3000 @@\n-old 0\n');
    expect(applyPatch(before, diff)).toBe(after);
  });
});
