import { describe, expect, it } from 'vitest';
import { type CommitSubject, commitWords, wrapped } from '../commitMessage.ts';
import { readCommitStyle } from '../commitStyle.ts';

const conventional = readCommitStyle({
  messages: ['fix: a b', 'feat: c d\n\nRefs: #1', 'fix: e\n\nRefs: #2'],
  commitlint: null,
});
const sentences = readCommitStyle({ messages: ['Add the thing', 'Fix that'], commitlint: null });

const subject = (task: Partial<CommitSubject['task']>, more: Partial<CommitSubject> = {}): CommitSubject => ({
  task: { name: 'Keep the last cell', description: 'The last cell of a row was lost.', ...task },
  label: 'T1',
  rework: 0,
  files: ['src/csv.js'],
  ...more,
});

describe('the message of a commit', () => {
  it('is the agent’s where it is as the repository has them, trailers apart', () => {
    const commitMessage = 'fix: keep the last cell\n\nIt ended with the file.\n\nRefs: #3';
    expect(commitWords(conventional, subject({ commitMessage }))).toEqual({
      text: 'fix: keep the last cell\n\nIt ended with the file.',
      trailers: ['Refs: #3'],
    });
  });

  it('keeps the agent’s reasons where only the first line does not fit', () => {
    const commitMessage = 'Keep the last cell.\n\nIt ended with the file.';
    expect(commitWords(conventional, subject({ commitMessage })).text).toBe(
      'feat: keep the last cell\n\nIt ended with the file.',
    );
  });

  it('has no line by which the engine finds its commits, and no trailer that is not in use', () => {
    const commitMessage = 'fix: keep\n\nDevs-Step: mine';
    expect(commitWords(conventional, subject({ commitMessage })).text).toContain(
      'The last cell of a row was lost.',
    );
    const signed = 'fix: keep\n\nWhy.\n\nSigned-off-by: Ada <a@b.c>';
    expect(commitWords(conventional, subject({ commitMessage: signed })).trailers).toEqual([]);
  });

  it.each([
    [conventional, {}, {}, 'feat: keep the last cell'],
    [conventional, { name: 'Fix the last cell' }, {}, 'fix: fix the last cell'],
    [conventional, { kind: 'behaviour-kept' }, {}, 'refactor: keep the last cell'],
    [conventional, {}, { files: ['README.md', 'docs/a.md'] }, 'docs: keep the last cell'],
    [conventional, { name: 'HTTP errors are told.' }, {}, 'feat: HTTP errors are told'],
    [sentences, { name: 'keep the last cell' }, {}, 'Keep the last cell'],
    [sentences, {}, { rework: 2 }, 'Keep the last cell (rework 2)'],
    [null, { name: '  ' }, {}, 'T1'],
  ] as const)('is made of the plan otherwise', (style, task, more, expected) => {
    const [first, empty, ...body] = commitWords(style, subject(task, more)).text.split('\n');
    expect(first).toBe(expected);
    expect([empty, body.join('\n')]).toEqual(['', 'The last cell of a row was lost.']);
  });

  it('has a first line that is cut at a word', () => {
    const name = `Keep ${'every cell of each row '.repeat(6)}`;
    const [first = ''] = commitWords(sentences, subject({ name })).text.split('\n');
    expect(first.length).toBeLessThanOrEqual(72);
    expect(name.startsWith(first)).toBe(true);
    expect(name.charAt(first.length)).toBe(' ');
  });
});

it('wraps prose and list items, and leaves code as it is', () => {
  const text = `- ${'word '.repeat(6).trim()}\n\n    const x = ${'1 + '.repeat(20)}1;\n${'x'.repeat(40)}`;
  expect(wrapped(text, 20)).toBe(
    `- word word word\n  word word word\n\n    const x = ${'1 + '.repeat(20)}1;\n${'x'.repeat(40)}`,
  );
});
