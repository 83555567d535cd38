import type { ReviewRequest, TaskRequest } from '@devs/core';
import { loadPrompts } from '../../src/models/loadPrompts.ts';
import { renderHandOver, renderOpening, renderRequest } from '../../src/models/renderRequest.ts';

const TASK: TaskRequest = {
  task: {
    taskId: 'csv-export:2',
    name: 'Quote a cell with a comma',
    description: 'A cell with a comma or a quote is quoted in src/csv.js.',
    acceptanceCriteria: ['A cell with a comma is quoted.'],
  },
  documents: [
    { type: 'PRD', title: 'CSV export', content: 'One row per task. A cell with a comma is quoted.' },
  ],
  siblings: [
    { label: 'T1', name: 'Write one row', state: 'done' },
    { label: 'T3', name: 'Write the header', state: 'to_come' },
  ],
  checks:
    'The checks: npm run lint, made of test (test, npm test), lint (lint, npm run lint).\nBefore any work they passed.',
  attempt: 1,
  lastFailure: null,
  guidance: [],
  workspace: { dir: '/project', list: async () => [], read: async () => '' },
  instructions: [{ path: 'AGENTS.md', content: 'Tests are in test/.', sha256: '' }],
};

const TEST_DIFF = `--- /dev/null
+++ b/test/quote.test.js
@@ -0,0 +1,5 @@
+import assert from 'node:assert/strict';
+import { test } from 'node:test';
+import { cell } from '../src/csv.js';
+
+test('a comma is quoted', () => assert.equal(cell('a,b'), '"a,b"'));`;

const CODE_DIFF = `--- a/src/csv.js
+++ b/src/csv.js
@@ -1 +1 @@
-export const cell = (text) => text;
+export const cell = (text) => (/[",]/.test(text) ? \`"\${text.replaceAll('"', '""')}"\` : text);`;

const parts = (passed: boolean) => [
  { name: 'test', kind: 'test', passed, command: 'npm test' } as const,
  { name: 'lint', kind: 'lint', passed: true, command: 'npm run lint' } as const,
];
const cases = (state: 'passed' | 'failed') => [
  { name: 'test: a row', state: 'passed' } as const,
  { name: 'test: a comma is quoted', state },
];
const RED = {
  ...{ passed: false, exitCode: 1, timedOut: false, command: 'npm test' },
  output: '[test] npm test\nnot ok 2 - a comma is quoted\n[lint] npm run lint',
  ...{ parts: parts(false), cases: cases('failed') },
};
const GREEN = {
  ...{ passed: true, exitCode: 0, timedOut: false, command: 'npm run lint' },
  output: '[test] npm test\nok 1 - a row\nok 2 - a comma is quoted\n[lint] npm run lint',
  ...{ parts: parts(true), cases: cases('passed') },
};
const FILES = [
  { path: 'src/csv.js', added: 1, removed: 1 },
  { path: 'test/quote.test.js', added: 5, removed: 0 },
];
const STYLE = `First line: a conventional commit, \`type: text\`, beginning with a small letter. Types: fix, feat, docs.
At most 72 characters, no full stop at the end.
Then an empty line and a body that says why, in lines of at most 72 characters.`;

const implement: TaskRequest = {
  ...TASK,
  test: { files: ['test/quote.test.js'], diff: TEST_DIFF, red: RED },
  excerpts: [{ path: 'src/csv.js', fromLine: 1, content: 'export const cell = (text) => text;' }],
};
const document: TaskRequest = {
  ...TASK,
  ...{ diff: `${CODE_DIFF}\n${TEST_DIFF}`, files: FILES },
  commit: { style: STYLE, problems: () => [] },
};
const review: ReviewRequest = { ...TASK, diff: `${CODE_DIFF}\n${TEST_DIFF}`, files: FILES, check: GREEN };

const SHOWN = {
  passages: [
    { path: 'src/csv.js', fromLine: 1, content: 'export const cell = (text) => text;' },
    {
      path: 'test/row.test.js',
      fromLine: 1,
      content: "test('a row', () => assert.equal(row(['a', 'b']), 'a,b'));",
    },
  ],
  headings: [],
};
const SHOWN_DOCS = {
  passages: [{ path: 'README.md', fromLine: 31, content: '### cell(text)\n\nOne cell of a row.' }],
  headings: [{ path: 'README.md', content: '1: # CSV\n29: ## API\n31: ### cell(text)\n35: ### row(cells)' }],
};

const fenced = (text: string): string => `\`\`\`\`text\n${text.trim()}\n\`\`\`\``;
const joined = (...texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n\n');

/** The page `docs/internals/one-task.md`: the prompts of one task, made of the newest version. */
export function oneTaskPage(): string {
  const { task, of, version } = loadPrompts();
  if (task === null) throw new TypeError('Expected prompts with conversations.');
  return `# One task, prompt by prompt

A model writes test, code and documentation of a task in one conversation. This page has all messages of devs in it, with the prompts ${version}.
The answers of the model and its tool calls stand between them. A test makes the page.

\`devs log RUN --stage T2.implement --prompt\` prints the prompt of a stage in your run.

## The first message: the test

The system prompt, the common part of the task, passages with its names, and the stage at the end.

${fenced(joined(task.system, renderOpening(TASK, version), renderHandOver(TASK, false, SHOWN), task.of.writeTest))}

## The second message: the code

devs has run the checks on the test alone.

${fenced(joined(renderHandOver(implement, true), task.of.implement))}

## The third message: the documentation

With the sections that speak of the change, so that one answer can edit them.

${fenced(joined(renderHandOver(document, true, SHOWN_DOCS), task.of.document))}

## The code in a new conversation

After a restart the second message begins a new conversation. It has the system prompt and the common part of the first message, then the recorded
results and the stage.

${fenced(renderHandOver(implement, false))}

## The review

Another conversation, with its own system prompt and the tools for reading. The diff has the code around its changes.

${fenced(joined(of.review, renderRequest(review, version)))}
`;
}
