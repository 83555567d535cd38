import { describe, expect, test } from 'vitest';
import { textOfAll } from '../../terminal/Line.ts';
import { codeReviewLines, isCodeReview } from '../renderCodeReview.ts';

type CodeReview = Parameters<typeof codeReviewLines>[0];

const REVIEW: CodeReview = {
  epicName: null,
  tasks: [
    { taskId: 'csv:1', name: 'Parse', commit: 'c1', criteria: [{ criterion: 'one row', shownBy: null }] },
  ],
  range: {
    from: 'a'.repeat(40),
    to: 'b'.repeat(40),
    tree: 'c'.repeat(40),
    commits: [{ sha: 'b'.repeat(40), subject: 'Parse' }] as unknown as CodeReview['range']['commits'],
    files: [{ path: 'a.js', added: 1, removed: 2 }] as unknown as CodeReview['range']['files'],
    total: { files: 1, added: 1, removed: 2 },
  },
  since: null,
  check: null,
  rejections: [],
} as unknown as CodeReview;

const said = (more: Partial<CodeReview>): string => textOfAll(codeReviewLines({ ...REVIEW, ...more }));

describe('what a review shows', () => {
  test('tasks with their criteria, the range, and that the checks were not run on it', () => {
    expect(said({})).toBe(
      [
        'T1 Parse',
        '  - one row  [no evidence named]',
        '',
        'Commits aaaaaaa..bbbbbbb, tree ccccccc',
        '  bbbbbbb Parse',
        'Files   1 changed, +1 -2',
        '  +1  -2  a.js',
        'Checks  not run on this exact commit',
        '',
      ].join('\n'),
    );
  });

  test('what the tests lose, and how often it was sent back', () => {
    const [task] = REVIEW.tasks;
    if (task === undefined) throw new Error('no task');
    const losses = [
      { path: 'a.test.js', words: 'a case is gone' },
      { path: null, words: 'fewer cases ran' },
    ] as unknown as NonNullable<typeof task.losses>;
    const sent = { by: 'human:ada', feedback: 'no\ntests' } as CodeReview['rejections'][number];
    const once = said({ epicName: 'Export', tasks: [{ ...task, losses }], rejections: [sent] });
    expect(once).toMatch(/^Epic: Export\nT1 Parse\n/);
    expect(once).toContain(
      '  Tests removed or weakened:\n  ! a.test.js: a case is gone\n  ! fewer cases ran\n',
    );
    expect(once).toMatch(/Rejected once:\n {2}- human:ada: no.+tests\n/);
    expect(said({ rejections: [sent, sent] })).toContain('Rejected 2 times:');
  });

  test('of many commits and files the newest and first, and how many more there are', () => {
    const commits = Array.from({ length: 12 }, (_, at) => ({
      sha: `${at}`.padStart(40, '0'),
      subject: `s${at}`,
    }));
    const files = Array.from({ length: 25 }, (_, at) => ({ path: `f${at}`, added: null, removed: 1 }));
    const range = { ...REVIEW.range, commits, files, total: { files: 40, added: 0, removed: 25 } };
    const words = said({ range: range as unknown as CodeReview['range'] });
    expect(words).toContain('  and 2 older commits\n  0000000 s2\n');
    expect(words).toContain('  binary  -1  f19\n  and 20 more\n');
  });

  test.each([
    [{ passed: true, exitCode: 0 }, 'Checks  passed: npm test\n  b\n  c\n  d\n  e\n  f'],
    [{ passed: false, exitCode: 2 }, 'Checks  FAILED (2): npm test'],
    [{ passed: true, durationMs: 640 }, 'Checks  passed: npm test in 0.6 s\n'],
    [{ passed: true, durationMs: 59_980 }, 'Checks  passed: npm test in 1 min 0 s\n'],
    [
      {
        passed: true,
        parts: [
          { name: 'unit', passed: true, durationMs: 72_400 },
          { name: 'of an older release', passed: true },
          { name: 'lint', passed: true, durationMs: 96 },
        ],
      },
      'Checks  passed: npm test\nTimes   unit 1 min 12 s, lint 0.1 s\n',
    ],
    [{ passed: false, exitCode: null }, 'Checks  FAILED (ended by a signal): npm test'],
  ])('the checks: %j', (check, words) => {
    const ran = { command: 'npm test', timedOut: false, output: 'a\nb\nc\nd\ne\nf\n', ...check };
    expect(said({ check: ran as unknown as CodeReview['check'] })).toContain(words);
  });
});

test.each([null, 'text', {}, { tasks: [], rejections: [] }, { tasks: [], rejections: [], range: { to: 1 } }])(
  '%j is no review',
  (artifact) => {
    expect(isCodeReview(artifact)).toBe(false);
  },
);
