import { expect, test } from 'vitest';
import { changedNames, mentionedIn } from '../codeNames.ts';

test('names are what stands in backticks, and what looks like code in prose', () => {
  const text =
    'The `withBase("/admin", base)` of parseURL or snake_case, and call(it), not Words. `const {map} = pLimit(2)`';
  expect(mentionedIn(text).names).toEqual([
    'withBase',
    'base',
    'map',
    'pLimit',
    'parseURL',
    'snake_case',
    'call',
  ]);
});

test('paths are files and folders; a file is no name', () => {
  const text = 'Add `src/lite.js` beside csv.test.ts, for `clsx/lite` in src/core/. See e.g. this.';
  expect(mentionedIn(text)).toEqual({
    names: ['clsx', 'lite'],
    paths: ['src/lite.js', 'clsx/lite', 'csv.test.ts', 'src/core/'],
  });
});

test('a diff changes what its lines define, and what is around its hunks', () => {
  const diff = `+++ b/src/a.ts
@@ -1,2 +1,2 @@ export function around(
-const gone = 1;
+  member(text: string) {
+  field: 1,
+  call(text);
 const context = 1;
+++ b/a.test.ts
@@ -1 +1 @@
+const inTest = 1;`;
  expect(changedNames(diff, (path) => path === 'src/a.ts')).toEqual(['around', 'gone', 'member', 'field']);
});
