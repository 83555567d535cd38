import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Gate, Run } from '@devs/core';
import { describe, expect } from 'vitest';
import type { codeReviewLines } from '../src/render/renderCodeReview.ts';
import { type Called, callMain } from './support/callMain.ts';
import { AGENTS, BRIEF, CHECK_SUM, test } from './support/fixtures.ts';
import { trusting, writeConfig } from './support/writeConfig.ts';

type CodeReview = Parameters<typeof codeReviewLines>[0];
type LastComment = Awaited<ReturnType<Run['lastComments']>>[number];

/** The second attempt at the one task, after a review; the file hides itself from `git diff` and holds a secret. */
const SECOND = [
  ['test', { files: [], summary: 'Nothing to test.' }],
  [
    'implement',
    {
      summary: 'Name the sum.',
      files: [
        { path: '.gitattributes', content: '*.js binary\n' },
        {
          path: 'sum.js',
          content: `// password=hunter2-hunter2, ghp_${'k3Yx'.repeat(9)}\nexport const sum = (first, second) => first + second;\n`,
        },
      ],
    },
  ],
  [
    'review',
    {
      approved: true,
      comments: 'Fine.',
      evidence: [{ criterion: 'sum(2, 3) is 5', shownBy: 'sum.test.js' }],
    },
  ],
  ['document', { files: [], summary: 'Nothing to add.' }],
] as const;

/** A project whose design and plan need no human, with the recording of both attempts. */
function aProject(dir: string, review?: 'task' | 'epic'): readonly string[] {
  const lines = SECOND.map(([step, response]) =>
    JSON.stringify({ stage: 'task', task: 'T1', attempt: 2, step, response }),
  );
  const recording = join(dir, 'reviewed.jsonl');
  writeFileSync(recording, `${readFileSync(AGENTS.slice('replay:'.length), 'utf8')}${lines.join('\n')}\n`);
  writeConfig(dir, { gates: { design: 'auto', dag: 'auto' }, ...(review && { review }) });
  const agents = ['--agents', `replay:${recording}`, '--check', CHECK_SUM, '--no-sandbox'];
  return ['run', BRIEF, '--id', 'sum', ...agents, ...trusting(dir)];
}

const documentOf = <T>({ stdout }: Called): T => JSON.parse(stdout) as T;

type Shown = Gate & {
  readonly lastComments?: readonly LastComment[];
  readonly artifact: CodeReview;
  readonly diff: {
    readonly text: string;
    readonly unshown: readonly unknown[];
    readonly since: { readonly text: string } | null;
  };
};

const show = async (dir: string): Promise<Shown> =>
  documentOf<Shown>(await callMain(dir, ['show', 'sum', '--json']));

describe('a review of code', () => {
  test('shows the diff with what speaks for it, and takes a no, then a yes', async ({ dir }) => {
    const run = aProject(dir);
    const first = await callMain(dir, [...run, '--review', 'task']);
    expect(first).toMatchObject({ exitCode: 75, stderr: '' });
    expect(first.stdout).toContain('waiting for a person: code review');

    const shown = await callMain(dir, ['show', 'sum']);
    expect(shown.stdout).toContain('T1 Add two numbers\n  - sum(2, 3) is 5  [no evidence named]\n');
    expect(shown.stdout).toContain('+2  -0  sum.js');
    expect(shown.stdout).toContain(`Checks  passed: ${CHECK_SUM}`);
    expect(shown.stdout).toContain('── The code\ndiff --git a/README.md b/README.md');
    expect(shown.stdout).toContain('\n+export const sum = (a, b) => a + b;\n');
    expect(shown.stdout).toMatch(/devs reject [0-9a-f]{8} --hash [0-9a-f]{12} --feedback/);

    const no = ['reject', 'sum', '--feedback', 'Name the numbers.', '--task', 'T1', '--by', 'ada'];
    const wrong = await callMain(dir, [...no, '--comment', 'sum.js: const product => Why?']);
    expect(wrong).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('QUOTE_NOT_SHOWN') });
    const comments = ['sum = (a, b) => a + b; => Say what a is.', 'T1: sum(2, 3) is 5 => And 0?'];
    const said = [...no, ...comments.flatMap((comment) => ['--comment', comment])];
    expect((await callMain(dir, said)).exitCode).toBe(0);
    expect((await callMain(dir, ['log', 'sum'])).stdout).toContain(
      'gate rejected: code review, redo T1, 2 comments, by human:ada: Name the numbers.',
    );
    expect((await callMain(dir, ['resume', 'sum'])).stdout).toContain('reopened: Add two numbers');

    const again = await callMain(dir, ['show', 'sum']);
    expect(again.stdout).toContain('Rejected once:\n  - ada: Name the numbers.\n');
    expect(again.stdout).toContain('sum(2, 3) is 5  [sum.test.js]');
    const [, news = '', all = ''] = again.stdout.split('── ');
    expect(news).toContain('Changed since the last review\n');
    expect(news).toContain('-export const sum = (a, b) => a + b;\n');
    expect(news).toContain('+export const sum = (first, second) => first + second;\n');
    expect(all).toContain('All of the code\n');
    expect(again.stdout).toContain(
      'sum.js, line 2: changed since\n> sum = (a, b) => a + b;\nhuman:ada: Say what a is.',
    );
    expect(again.stdout).toContain('T1, line 2: unchanged\n> sum(2, 3) is 5\nhuman:ada: And 0?\n');
    expect(again.stdout).not.toContain('k3Yxk3Yx');
    expect(all).toMatch(/^\+\/\/ password=hunter2-hunter2, \[REDACTED:github:40:[0-9a-f]{12}\]$/m);
    expect(again.stdout).toMatch(
      /HIDDEN: 1 place of the approved content.*\n {2}1\. \/code at \d+: github, 40 /,
    );

    expect((await callMain(dir, ['status', 'sum'])).stdout).toContain(
      'after every task: 0 approved, 1 rejected',
    );
    const words = 'review:  after every task: 0 approved, 1 rejected';
    expect((await callMain(dir, ['explain', 'sum'])).stdout).toContain(words);
    expect((await callMain(dir, ['gates'])).stdout).toContain('code review T1');
    const unread = await callMain(dir, ['approve', 'sum', '--by', 'ada']);
    expect(unread).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('GATE_HIDDEN') });
    const revealed = await callMain(dir, ['show', 'sum', '--reveal', '--by', 'ada']);
    expect(revealed.stdout).toContain(`hunter2, ghp_${'k3Yx'.repeat(9)}`);
    const yes = await callMain(dir, ['approve', 'sum', '--by', 'ada', '--json']);
    expect(documentOf(yes)).toMatchObject({ hidden: { count: 1, revealed: [1] } });
    const ended = await callMain(dir, ['resume', 'sum']);
    expect(ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('2 commits') });
    expect(ended.stdout).toContain('Add two numbers (rework 1)');
  });

  test('is whole as JSON and as Markdown, and git says the same', async ({ dir }) => {
    await callMain(dir, aProject(dir, 'epic'));
    const { artifact, diff } = await show(dir);
    const { from, to } = artifact.range;
    expect(artifact).toMatchObject({ scope: 'epic', epicName: 'Sum', tasks: [{ commit: to }] });
    const git = execFileSync('git', ['--git-dir', '.devs/git/sum.git', 'diff', from, to], { cwd: dir });
    expect(diff).toMatchObject({ text: git.toString(), since: null });
    const { stdout } = await callMain(dir, ['show', 'sum', '--md']);
    expect(stdout).toMatch(/^# Gate [0-9a-f]{8}: code review of sum\n/);
    expect(stdout).toContain('```diff\n── The code\ndiff --git');

    const decision = /```json\n([\s\S]*?)```/.exec(stdout)?.[1] ?? '';
    const no = decision
      .replace(
        '"approved": true',
        '"approved": false, "feedback": "Once more.", "tasks": ["T1"], "comments": [{ "in": "T1", "quote": "sum(2, 3) is 5", "text": "?" }]',
      )
      .replace('"by": ""', '"by": "grace"');
    writeFileSync(join(dir, 'decision.json'), no);
    expect(await callMain(dir, ['approve', '--from', 'decision.json'])).toMatchObject({ exitCode: 0 });
    await callMain(dir, ['resume', 'sum']);
    const { artifact: second, lastComments } = await show(dir);
    expect(second.rejections).toMatchObject([{ by: 'grace', feedback: 'Once more.' }]);
    expect(lastComments).toMatchObject([{ in: 'T1', text: '?', since: 'unchanged' }]);
    expect((await callMain(dir, ['log', 'sum'])).stdout).toContain(', by human:grace via file: Once more.');
    expect((await callMain(dir, ['show', 'sum', '--md'])).stdout).toContain('human:grace: ?\n```');

    await callMain(dir, ['approve', 'sum', '--with-hidden', '1']);
    writeFileSync(join(dir, '.devs-work', 'sum', 'by-hand.js'), 'export {};\n');
    expect((await callMain(dir, ['adopt', 'sum', '--author', 'Ada <ada@example.org>'])).exitCode).toBe(0);
    expect((await callMain(dir, ['resume', 'sum'])).exitCode).toBe(75);
    const { artifact: moved, diff: news } = await show(dir);
    expect(moved).toMatchObject({ since: second.range.to, check: { passed: true }, range: { from } });
    expect(news.since?.text).toContain('b/by-hand.js');
    await callMain(dir, ['approve', 'sum', '--with-hidden', '1']);
    expect((await callMain(dir, ['resume', 'sum'])).exitCode).toBe(0);
  });

  test('ends a long diff with how to read the rest', async ({ dir }) => {
    const run = aProject(dir, 'task');
    const recording = join(dir, 'reviewed.jsonl');
    const long = `${'// line\\n'.repeat(300)}`;
    writeFileSync(recording, readFileSync(recording, 'utf8').replace('/** Adds two numbers. */', long));
    await callMain(dir, run);
    const { artifact } = await show(dir);
    const { stdout } = await callMain(dir, ['show', 'sum']);
    const rest = /\d+ more lines: devs show [0-9a-f]{8} --full, or (git --git-dir \S+ diff \w+ \w+)/.exec(
      stdout,
    );
    expect(rest?.[1]).toContain(artifact.range.to.slice(0, 12));
    const all = execFileSync('/bin/sh', ['-c', rest?.[1] ?? 'false'], { cwd: dir }).toString();
    expect((await callMain(dir, ['show', 'sum', '--full'])).stdout).toContain(all.trimEnd());
  });

  test('says of a script with a NUL byte what it is, and how to see its text', async ({ dir }) => {
    const run = aProject(dir, 'task');
    const recording = join(dir, 'reviewed.jsonl');
    const lines = readFileSync(recording, 'utf8').trimEnd().split('\n');
    const script = 'echo harmless\n#\0\nsteal\n';
    const hidden = lines.map((line) => {
      if (!line.includes('"implement"')) return line;
      const call = JSON.parse(line) as { response: { files: object[] } };
      call.response.files.push({ path: 'run.sh', content: script });
      return JSON.stringify(call);
    });
    writeFileSync(recording, hidden.join('\n'));
    await callMain(dir, run);

    const { artifact, diff } = await show(dir);
    const { from, to } = artifact.range;
    const blob = execFileSync('git', ['hash-object', '--stdin'], { input: script }).toString().trim();
    const bytes = script.length;
    expect(diff.unshown).toEqual([{ path: 'run.sh', before: null, after: { bytes, blob } }]);
    const asText = `git --git-dir .devs/git/sum.git diff ${from} ${to} --text`;
    for (const flags of [[], ['--md']]) {
      const { stdout } = await callMain(dir, ['show', 'sum', ...flags]);
      expect(stdout).toContain(
        `WARNING: files that are binary or contain a NUL byte are not shown (1 below).`,
      );
      expect(stdout).toContain(`To see them as text: ${asText}\n`);
      expect(stdout).toContain(`  run.sh: new, ${bytes} bytes, git blob ${blob}\n`);
    }
    const text = execFileSync('/bin/sh', ['-c', asText], { cwd: dir }).toString();
    expect(text).toContain('\n+steal\n');
  });

  test('is decided by the policy that --yes declares, and declared when a run is started', async ({
    dir,
  }) => {
    const run = aProject(dir);
    expect(await callMain(dir, [...run, '--review', 'file'])).toMatchObject({ exitCode: 2 });
    expect(await callMain(dir, [...run, '--review', 'epic', '--yes'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('code review, by policy:review=auto'),
    });
    expect((await callMain(dir, [...run, '--review', 'none'])).stderr).toContain('--review was ignored');
  });
});
