import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { widerDiff } from '../widerDiff.ts';

/** As git prints it. */
function diffOf(before: string, after: string, context: number): string {
  const dir = mkdtempSync(join(tmpdir(), 'devs-wider-'));
  try {
    writeFileSync(join(dir, 'a'), before);
    writeFileSync(join(dir, 'b'), after);
    const argv = ['diff', '--no-index', '--no-color', `-U${context}`, 'a', 'b'];
    return execFileSync('git', argv, { cwd: dir, encoding: 'utf8' });
  } catch (error) {
    return (error as { readonly stdout: string }).stdout.replaceAll(/(?<=[ab]\/)[ab]$/gm, 'f.js');
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** A range of one line may leave out its number, and the words behind it are those of the first hunk. */
const comparable = (diff: string): string =>
  diff.replaceAll(/^@@ .* @@.*$/gm, (head) =>
    head
      .replace(/(@@) -(\d+) /, '$1 -$2,1 ')
      .replace(/ \+(\d+) (@@).*/, ' +$1,1 $2')
      .replace(/(@@ .* @@).*/, '$1'),
  );

test('a wider diff is what git prints with more lines of context', async () => {
  const line = fc.constantFrom('', 'a', 'b', '- c', '-- d', '++ e', '@@ -1 +1 @@', '\\ f');
  const text = fc
    .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
    .map(([lines, isEnded]) => lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : ''));
  await fc.assert(
    fc.asyncProperty(text, text, fc.integer({ min: 1, max: 8 }), async (before, after, more) => {
      fc.pre(before !== after && before !== '' && after !== '');
      const wide = await widerDiff(diffOf(before, after, 2), more, async () => after);
      expect(comparable(wide)).toBe(comparable(diffOf(before, after, 2 + more)));
    }),
    { numRuns: 60 },
  );
});

test('files that are not read, are new, or do not fit stay as they are in the diff', async () => {
  const changed = '--- a/f.js\n+++ b/f.js\n@@ -2 +2 @@\n-two\n+2\n';
  const added = '--- /dev/null\n+++ b/g.js\n@@ -0,0 +1 @@\n+one\n';
  const both = `${changed}${added}[cut: there is more]\n`;
  const read = async (path: string) => (path === 'f.js' ? 'one\n2\nthree\n' : 'one\n');
  expect(await widerDiff(both, 5, async () => null)).toContain('-0,0 +1,1 @@\n+one\n[cut');
  expect(await widerDiff(both, 5, async () => 'another\n')).toContain('@@ -2,1 +2,1 @@\n-two\n+2\n');
  expect(await widerDiff(both, 5, read)).toBe(
    '--- a/f.js\n+++ b/f.js\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n--- /dev/null\n+++ b/g.js\n@@ -0,0 +1,1 @@\n+one\n[cut: there is more]\n',
  );
});

test('a hunk that is cut stays as it is', async () => {
  const cut = '--- a/f.js\n+++ b/f.js\n@@ -2,2 +2,2 @@\n-two\n+2\n[cut: there is more]\n';
  expect(await widerDiff(cut, 5, async () => 'one\n2\nthree\n')).toBe(cut);
});
