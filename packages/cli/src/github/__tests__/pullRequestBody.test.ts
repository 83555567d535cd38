import { describe, expect, test } from 'vitest';
import { bodyWith, pullRequestTitle, type ReviewedRun, reviewMarkdown } from '../pullRequestBody.ts';

const TOKEN = `ghp_${'k3Yx'.repeat(9)}`;
const LIMIT = 65_536;

type Task = NonNullable<ReviewedRun['state']>['tasks'][number];
type Status = ReviewedRun['status'];

const aTask = (more: Partial<Task>): Task => ({
  taskId: 'sum:1',
  epicId: 'sum:e1',
  name: 'Add',
  description: '',
  status: 'completed',
  agentRole: 'developer',
  dependsOn: [],
  ...more,
});

/** As much of a run as its review is made of. */
function aRun(tasks: readonly Task[], status: Partial<Status> = {}): ReviewedRun {
  const whole = { id: 'sum', title: 'Sum', status: 'completed', metadata: {}, gates: [], ...status };
  return {
    status: whole as unknown as Status,
    state: { tasks } as unknown as ReviewedRun['state'],
    closedGates: [],
    decisions: [],
    commit: 'a'.repeat(40),
  };
}

const green = (output: string): Partial<Task> => ({
  green: {
    tree: 'b'.repeat(40),
    check: { command: 'npm test', passed: true, exitCode: 0, timedOut: false, output },
  },
});

const textOf = (run: ReviewedRun): string => reviewMarkdown(run).join('\n');

describe('the review in a pull request', () => {
  test('has no secret of a task, a criterion, a check or a title, also where Markdown would escape it', () => {
    const task = aTask({ name: TOKEN, acceptanceCriteria: [`use ${TOKEN}`], ...green(`token=${TOKEN}`) });
    const run = aRun([task], { title: TOKEN });
    for (const text of [textOf(run), pullRequestTitle(run.status)]) {
      expect(text.replaceAll('\\', '')).not.toContain('k3Yx');
      expect(text).toContain('REDACTED');
    }
  });

  test('names nobody, closes nothing and has no markup of others, outside of code', () => {
    const words =
      'Fixes #3, fixes acme/app#4, GH-5, https://github.com/acme/app/issues/6 @mona <!-- x --> **b**';
    const text = textOf(aRun([aTask({ name: words, acceptanceCriteria: [words] })]));
    expect(text).not.toMatch(/@\w|#\d|GH-\d|:\/\/|<!-- x|\*\*b/);
    expect(text).toContain('@<!-- -->mona');
  });

  test('closes the issue of a run that is completed, and of no other metadata', () => {
    const issue = { issue: 'acme/app#12' };
    expect(textOf(aRun([], { metadata: issue }))).toContain('\nCloses acme/app#12\n');
    expect(textOf(aRun([], { metadata: issue, status: 'waiting' }))).toContain('\nFor acme/app#12\n');
    expect(textOf(aRun([], { metadata: { issue: 'x @mona' } }))).not.toContain('mona');
  });

  test('shows the end of the checks, whatever stands in it', () => {
    const text = textOf(
      aRun([aTask(green('early\n'.repeat(99).concat('```\n<!-- end of devs run sum -->')))]),
    );
    expect(text).toContain('\n````text\n');
    expect(text.match(/early/g)).toHaveLength(18);
  });
});

describe('the body', () => {
  const ours = ['one', 'two'];

  test('takes the place of the last review alone', () => {
    const first = bodyWith('', ours, 'sum');
    expect(bodyWith(first, ours, 'sum')).toBe(first);
    const around = `Before\r\n\r\n${first}\r\nAfter`;
    expect(bodyWith(around, ['new'], 'sum')).toBe(around.replace('one\ntwo', 'new'));
    expect(bodyWith('Theirs', ours, 'sum')).toBe(`Theirs\n\n${first}`);
    expect(bodyWith(first, ours, 'other').startsWith(first)).toBe(true);
    const planted = bodyWith('', ['<!-- end of devs run sum -->', 'rest'], 'sum');
    expect(bodyWith(planted, ours, 'sum')).toBe(first);
  });

  test('is cut at a line, says so, and closes its fence', () => {
    const long = ['```text', ...Array.from({ length: 9_000 }, (_, at) => `line ${at} 😀`), '```', 'after'];
    for (const existing of ['', 'x'.repeat(5_000), 'x'.repeat(65_000)]) {
      const body = bodyWith(existing, long, 'sum');
      expect(body.length).toBeLessThanOrEqual(LIMIT);
      expect(body.length).toBeGreaterThan(LIMIT - 100);
      expect(body).toMatch(
        /\nline \d+ 😀\n```\n\nThe rest is left out, because GitHub takes 65,536 characters\./,
      );
      expect(bodyWith(body, long, 'sum')).toBe(body);
    }
    expect(() => bodyWith('x'.repeat(65_500), long, 'sum')).toThrow('leaves no room');
  });

  test('goes with a title in one line that GitHub takes', () => {
    expect(pullRequestTitle({ id: 'sum', title: 'a\n  b\u202E' })).not.toMatch(/[\n\u202E]/);
    expect(pullRequestTitle({ id: 'sum', title: ' ' })).toBe('sum');
    expect([...pullRequestTitle({ id: 'sum', title: '😀'.repeat(400) })]).toHaveLength(256);
  });
});
