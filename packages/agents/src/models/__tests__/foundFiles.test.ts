import type { TaskRequest } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { FileDesk } from '../FileDesk.ts';
import { diffForReview, docsOfWork, filesOfTask } from '../foundFiles.ts';

const workspaceOf = (files: Readonly<Record<string, string>>): TaskRequest['workspace'] => ({
  dir: '/w',
  list: async () => Object.keys(files),
  read: async (path) => files[path] ?? '',
});

const aTask = (description: string): Pick<TaskRequest, 'task' | 'guidance'> => ({
  task: { taskId: 'csv:1', name: 'A task', description, acceptanceCriteria: [] },
  guidance: [],
});

const shownFor = async (files: Readonly<Record<string, string>>, description: string) =>
  (await filesOfTask(new FileDesk(workspaceOf(files)), aTask(description))).passages;

const pathsOf = (passages: readonly { readonly path: string }[]): readonly string[] => [
  ...new Set(passages.map(({ path }) => path)),
];

const filler = (name: string): string =>
  Array.from({ length: 200 }, (_, at) => `export const ${name}${at} = ${at}; // nothing of interest`).join(
    '\n',
  );

const CELL = `/** One cell. */
export function quoteCell(text) {
  return text;
}`;

describe('the first stage of a task is shown', () => {
  test('what defines the names of the task, and the tests that mention them, as they stand', async () => {
    const files = {
      'README.md': '# quoteCell',
      'src/csv.js': `import fs from 'node:fs';\n\n${filler('a')}\n\n${CELL}\n\n${filler('b')}\n`,
      'src/other.js': 'export const other = 1;\n',
      'src/user.js': "import { quoteCell } from './csv.js';\n",
      'test/csv.test.js':
        "import { quoteCell } from '../src/csv.js';\ntest('a cell', () => quoteCell('a'));\n",
    };
    const passages = await shownFor(files, 'A comma breaks `quoteCell`.');
    expect(pathsOf(passages)).toEqual(['src/csv.js', 'test/csv.test.js']);
    expect(passages.map(({ content }) => content)).toContain(CELL);
    for (const { path, fromLine, content } of passages) {
      const lines = (files[path as keyof typeof files] ?? '').split('\n');
      expect(lines.slice(fromLine - 1, fromLine - 1 + content.split('\n').length).join('\n')).toBe(content);
    }
    expect(passages[0]).toEqual({ path: 'src/csv.js', fromLine: 1, content: "import fs from 'node:fs';" });
  });

  test('the file that a task names, and what stands beside a file that is to come', async () => {
    const files = {
      'a/deep/csv.py': 'def cell(text):\n    return text\n',
      'src/index.js': 'export const one = 1;\n',
      'other/index.js': 'export const one = 1;\n',
    };
    expect(pathsOf(await shownFor(files, 'Change csv.py.'))).toEqual(['a/deep/csv.py']);
    expect(pathsOf(await shownFor(files, 'Add `src/lite.js`.'))).toEqual(['src/index.js']);
  });

  test('nothing where the task names nothing, and no file that tools made or that has secrets', async () => {
    const files = {
      'package-lock.json': '"quoteCell": 1',
      'dist/csv.js': CELL,
      'src/csv.min.js': CELL,
      'config/.env': 'quoteCell=1',
      'secrets.yaml': 'quoteCell: 1',
    };
    expect(await shownFor(files, 'Change `quoteCell`, see config/.env.')).toEqual([]);
    expect(await shownFor({ 'src/csv.js': CELL }, 'A comma breaks the table.')).toEqual([]);
  });

  test('no more than there is room for, the best of it first', async () => {
    const mention = (at: number): string => `function user${at}() {\n  quoteCell('${'x'.repeat(300)}');\n}\n`;
    const many = Array.from({ length: 60 }, (_, at) => mention(at)).join('\n');
    const filesWith = (length: number) =>
      Object.fromEntries(Array.from({ length }, (_, at) => [`src/f${at}.js`, `${CELL}\n\n${many}`]));
    const passages = await shownFor(filesWith(6), '`quoteCell`');
    const length = passages.reduce((sum, { content }) => sum + content.length, 0);
    expect(length).toBeGreaterThan(4_000);
    expect(length).toBeLessThan(10_000);
    expect(passages[0]?.content).toContain(CELL);
    // What so many files have leads nowhere.
    expect(await shownFor(filesWith(9), '`quoteCell`')).toEqual([]);
  });
});

describe('the documentation is shown', () => {
  const diff = `--- a/src/csv.js
+++ b/src/csv.js
@@ -1,2 +1,2 @@ export function quoteCell(text) {
-  return text;
+  return quoted(text);
--- a/test/csv.test.js
+++ b/test/csv.test.js
@@ -1 +1 @@
+const unrelated = 1;
`;
  const docsOf = (files: Readonly<Record<string, string>>) =>
    docsOfWork(new FileDesk(workspaceOf(files)), { ...aTask('A comma.'), diff });

  test('in the sections that speak of what the diff changes, with the headings of the rest', async () => {
    const section = '### quoteCell(text)\n\nQuotes a cell.';
    const readme = `# CSV\n\n${'Words.\n\n'.repeat(600)}## API\n\n${section}\n\n### unrelated\n\nElse.\n`;
    const { passages, headings } = await docsOf({
      'README.md': readme,
      'docs/other.md': '# unrelated',
      'AGENTS.md': 'quoteCell',
      'src/csv.js': CELL,
    });
    expect(passages).toEqual([{ path: 'README.md', fromLine: 1205, content: section }]);
    expect(headings).toEqual([
      {
        path: 'README.md',
        content: '1: # CSV\n1203: ## API\n1205: ### quoteCell(text)\n1209: ### unrelated',
      },
    ]);
  });

  test('whole where it is short, and the newest entries of the changelog', async () => {
    const news = `# Changes\n\n${'- fix: something\n'.repeat(200)}`;
    const { passages, headings } = await docsOf({ 'README.md': '# CSV\n\nNothing.\n', 'CHANGELOG.md': news });
    expect(passages[0]).toEqual({ path: 'README.md', fromLine: 1, content: '# CSV\n\nNothing.' });
    expect(passages[1]?.content).toMatch(/^# Changes\n\n(?:- fix: something\n?)+$/);
    expect(passages[1]?.content.length).toBeLessThanOrEqual(1_200);
    expect(headings).toEqual([]);
  });
});

test('a review reads its diff with the code around it, tests and documents as they were', async () => {
  const lines = Array.from({ length: 60 }, (_, at) => `line ${at + 1}`);
  const text = `${lines.join('\n')}\n`.replace('line 30', 'line thirty');
  const part = (path: string): string =>
    `--- a/${path}\n+++ b/${path}\n@@ -30,1 +30,1 @@\n-line 30\n+line thirty\n`;
  const diff = `${part('src/a.js')}${part('test/a.test.js')}${part('README.md')}`;
  const wide = await diffForReview(
    diff,
    workspaceOf({ 'src/a.js': text, 'test/a.test.js': text, 'README.md': text }),
  );
  expect(wide).toContain('@@ -8,45 +8,45 @@\n line 8\n');
  expect(wide.slice(wide.indexOf('--- a/test'))).toBe(diff.slice(diff.indexOf('--- a/test')));
});
