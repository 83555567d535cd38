import { describe, expect, it } from 'vitest';
import { messageProblems } from '../commitMessage.ts';
import { type CommitStyle, readCommitStyle, styleWords } from '../commitStyle.ts';

const styleOf = (messages: readonly string[], commitlint: string | null = null) =>
  readCommitStyle({ messages, commitlint });

const CONVENTIONAL = [
  'fix(parser): keep empty cells\n\nThey are data.\n\nRefs: #12\n',
  'feat(cli): print a table\n\nPeople ask for it.\n\nRefs: #13\n',
  'chore(release): 1.2.0',
  'Merge pull request #4 from a/b',
  'fix(parser): a quote ends a cell\n\nRefs: #14\n',
];

describe('how a repository words its commits', () => {
  it('is unknown without a commit', () => {
    expect(styleOf([])).toBeNull();
    expect(styleOf(['Initial commit', '1.0.0', 'Merge branch x'])).toBeNull();
  });

  it('is conventional where most commits are: with the types and scopes in use, and trailers', () => {
    expect(styleOf(CONVENTIONAL)).toMatchObject({
      form: 'conventional',
      scopes: ['parser', 'cli'],
      scopesAreClosed: false,
      capital: false,
      maxSubject: 72,
      trailers: ['Refs'],
    });
    expect(styleOf(CONVENTIONAL)?.types.slice(0, 3)).toEqual(['fix', 'feat', 'docs']);
    expect(styleOf(['fix: a', 'feat: b', 'Print c'])?.scopes).toEqual([]);
  });

  it('is a sentence where most are none, as long as they are', () => {
    const long = `Require Node.js 20 ${'and more '.repeat(8)}`.trim();
    expect(styleOf(['Add the option', long, long, 'Meta tweaks'])).toMatchObject({
      form: 'sentence',
      capital: true,
      maxSubject: long.length,
    });
    expect(styleOf(['add the option', 'Fix it'])).toMatchObject({ capital: null });
  });

  it('does not sign for anybody', () => {
    const signed = 'Add a\n\nSigned-off-by: Ada <ada@example.org>';
    expect(styleOf([signed, signed])?.trailers).toEqual([]);
  });

  it.each([
    [
      'JavaScript',
      "module.exports = {\n  extends: ['@commitlint/config-conventional'],\n  rules: {\n    'type-enum': [2, 'always', ['feat', 'fix', 'wip']],\n    'scope-enum': [2, 'always', ['core', 'cli']],\n    'header-max-length': [2, 'always', 50],\n  },\n};",
    ],
    [
      'JSON',
      JSON.stringify(
        {
          rules: {
            'type-enum': [2, 'always', ['feat', 'fix', 'wip']],
            'scope-enum': [2, 'always', ['core', 'cli']],
            'header-max-length': [2, 'always', 50],
          },
        },
        null,
        1,
      ),
    ],
    [
      'YAML',
      'extends:\n  - "@commitlint/config-conventional"\nrules:\n  type-enum:\n    - 2\n    - always\n    - [feat, fix, wip]\n  scope-enum: [2, always, [core, cli]]\n  header-max-length: [2, always, 50]\n',
    ],
  ])('is read from the configuration of commitlint, in %s, without running it', (_, config) => {
    expect(styleOf(['Whatever it was before'], config)).toMatchObject({
      form: 'conventional',
      types: ['feat', 'fix', 'wip'],
      scopes: ['core', 'cli'],
      scopesAreClosed: true,
      maxSubject: 50,
      maxLine: 100,
    });
  });

  it('has the usual types where commitlint only extends', () => {
    const style = styleOf([], '{ "extends": ["@commitlint/config-conventional"] }');
    expect(style).toMatchObject({ form: 'conventional', maxSubject: 100, scopes: [] });
    expect(style?.types).toContain('refactor');
  });

  it('is told in words', () => {
    expect(styleWords(styleOf(CONVENTIONAL) as CommitStyle)).toBe(
      [
        'First line: a conventional commit, `type: text`, beginning with a small letter. Types: fix, feat, docs, refactor, test, chore, build, ci, perf, style, revert.',
        'It is `type(scope): text`, usually with a scope such as parser, cli.',
        'At most 72 characters, no full stop at the end.',
        'Then an empty line and a body that says why, in lines of at most 72 characters.',
        'Commits here end with: Refs.',
      ].join('\n'),
    );
  });

  it.each([
    ['fix(parser): keep the last cell\n\nIt was lost at the end of a file.', []],
    ['Keep the last cell\n\nWhy.', ['the first line is no `type: text`']],
    ['wip: keep\n\nWhy.', [expect.stringContaining('the type is none of')]],
    ['fix: keep.', ['the first line ends with a full stop', 'there is no body that says why']],
    ['fix: keep\nmore', ['the second line is not empty', 'there is no body that says why']],
    [`fix: ${'x'.repeat(80)}\n\nWhy.`, ['the first line has 85 characters, 72 are the most']],
    ['fix: keep\n\nWhy.\n\nDevs-Step: x', [expect.stringContaining('marks lines of the engine')]],
  ])('judges %j', (message, problems) => {
    expect(messageProblems(styleOf(CONVENTIONAL), message)).toEqual(problems);
  });
});
