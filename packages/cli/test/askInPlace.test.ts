import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { callMain } from './support/callMain.ts';
import { AGENTS, RUN_EMPTY, RUN_SUM, test } from './support/fixtures.ts';

const NO_CI = { CI: '', PAGER: 'cat', NO_COLOR: '1', VISUAL: '', EDITOR: 'false' };

/** What a person types, each line when the prompt that it answers is there. */
function person(says: Readonly<Record<string, readonly string[]>>) {
  const left = new Map(Object.entries(says).map(([prompt, lines]) => [prompt, [...lines]]));
  let wake = (): void => {};
  const typed: string[] = [];
  const onWrite = (text: string): void => {
    const next = left.get(text)?.shift();
    if (next !== undefined) typed.push(next);
    else if (/^[^\n]+: $/.test(text)) typed.push('\u0004');
    wake();
  };
  async function* stdin(): AsyncGenerator<string> {
    for (;;) {
      while (typed.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      const line = typed.shift() ?? '';
      if (line === '\u0004') return;
      yield `${line}\n`;
    }
  }
  return { isTTY: true, onWrite, stdin: Object.assign(stdin(), { isTTY: true }), env: NO_CI };
}

const DECIDE = 'decide: ';

describe('asking in place', () => {
  test('a run goes from gate to gate on a terminal, and ends as the run does', async ({ dir }) => {
    const called = await callMain(dir, RUN_EMPTY, person({ [DECIDE]: ['what?', 'read', 'a', 'approve'] }));
    expect(called).toMatchObject({ exitCode: 0, stderr: '' });
    expect(called.stdout.match(/^Gate [0-9a-f]{8}: design of sum$/gm)).toHaveLength(2);
    expect(called.stdout).toMatch(/^ {2}a {2}approve {2}plan the tasks$/m);
    expect(called.stdout).toContain('approved: plan of sum');
    expect(called.stdout).toContain('completed: sum');
  });

  test('what is asked, rejected or left as it is in the editor brings the prompt again', async ({ dir }) => {
    const io = person({
      [DECIDE]: ['talk', 'edit', 'reject', 'reject', 'later'],
      'your question (empty: back): ': ['Why so long?', ''],
      'what should change (empty: open your editor): ': ['', 'Shorter'],
    });
    const called = await callMain(dir, RUN_EMPTY, { ...io, env: { ...io.env, EDITOR: 'true' } });
    expect(called.exitCode).toBe(75);
    expect(called.stderr.split('No decision was recorded; the gate stays open.')).toHaveLength(3);
    expect(called.stdout).toContain('rejected: design of sum');
    expect(called.stdout.match(/^Gate [0-9a-f]{8}: design of sum$/gm)).toHaveLength(2);
  });

  test('later leaves the run waiting, with the commands; what was shown can be approved', async ({ dir }) => {
    const called = await callMain(dir, RUN_EMPTY, person({ [DECIDE]: ['later'] }));
    expect(called).toMatchObject({ exitCode: 75, stderr: '' });
    expect(called.stdout).toMatch(/waiting for a person: design[\s\S]*approve: devs approve/);
    const log = await callMain(dir, ['log', 'sum']);
    expect(log.stdout).toContain('gate viewed: design');
    expect(await callMain(dir, ['approve', 'sum'])).toMatchObject({ exitCode: 0 });
  });

  test('nobody is asked with --no-ask, with --json and in CI', async ({ dir }) => {
    const { env, ...io } = person({});
    for (const [flags, ci] of [
      [['--no-ask'], ''],
      [['--json'], ''],
      [[], 'true'],
    ] as const) {
      const called = await callMain(dir, [...RUN_EMPTY, ...flags], { ...io, env: { ...env, CI: ci } });
      expect(called).toMatchObject({ exitCode: 75 });
      expect(called.stdout).not.toContain(DECIDE);
    }
  });

  test('who is second is told who was first, and the run goes on from there', async ({ dir }) => {
    const io = person({
      [DECIDE]: ['r', 'later'],
      'what should change (empty: open your editor): ': ['No'],
    });
    let isFirst = true;
    const onWrite = (text: string): void => {
      const isTheirs = isFirst && text.startsWith('what should change');
      const first = isTheirs ? callMain(dir, ['approve', 'sum', '--by', 'bob']) : Promise.resolve();
      isFirst &&= !isTheirs;
      void first.then(() => io.onWrite(text));
    };
    const called = await callMain(dir, RUN_EMPTY, { ...io, onWrite });
    expect(called.stderr).toMatch(/was already decided by human:bob at/);
    expect(called.stdout).toContain('waiting for a person: plan');
    expect((await callMain(dir, ['log', 'sum'])).stdout).not.toContain('gate rejected');
  });

  test('nothing is drawn over what is asked, however long a person thinks', async ({ dir }) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const io = person({ [DECIDE]: ['later'] });
    const onWrite = (text: string): void => {
      if (text === DECIDE) vi.advanceTimersByTime(2_000);
      io.onWrite(text);
    };
    const { stdout } = await callMain(dir, RUN_EMPTY, { ...io, onWrite });
    expect(stdout.split(DECIDE)[1]).toMatch(/^\n*waiting for a person/);
  });

  test('a signal at the prompt leaves the run waiting', async ({ dir }) => {
    const stop = new AbortController();
    const io = person({});
    const onWrite = (text: string): void => (text === DECIDE ? stop.abort() : undefined);
    const called = await callMain(dir, RUN_EMPTY, { ...io, onWrite, signal: stop.signal });
    expect(called).toMatchObject({ exitCode: 75, stderr: '' });
    expect(called.stdout).toContain('waiting for a person: design');
  });

  test('nothing is drawn where a person types, also after a delivery', async ({ dir, user }) => {
    user.git('commit', '-q', '--allow-empty', '-m', 'First');
    const screen: string[] = [];
    const io = person({ [DECIDE]: ['approve', 'later'] });
    const onWrite = (text: string): void => {
      screen.push(text);
      io.onWrite(text);
    };
    await callMain(dir, RUN_SUM, { ...io, onWrite });
    const before = screen.flatMap((text, index) => (text === DECIDE ? [screen[index - 1]] : []));
    expect(before).toHaveLength(2);
    for (const text of before) expect(text).toMatch(/\n$/);
  });

  test('talk is offered where somebody answers; else it says why not', async ({ dir }) => {
    const silent = await callMain(dir, RUN_SUM, person({ [DECIDE]: ['talk', 'later'] }));
    expect(silent.stdout).not.toMatch(/^ {2}q {2}talk/m);
    expect(silent.stdout).toContain('questions are not possible: the agents "sum" do not answer questions');
    expect(silent).toMatchObject({ exitCode: 75, stderr: '' });
    const nobody = await callMain(dir, [...RUN_EMPTY, '--id', 'empty'], person({ [DECIDE]: ['later'] }));
    expect(nobody.stdout).toContain('questions are not possible: the run has no agents');

    const recording = join(dir, 'answering.jsonl');
    const asked = { stage: 'ask', task: '', attempt: 1, step: 'design', question: 'Why?' };
    copyFileSync(AGENTS.slice('replay:'.length), recording);
    appendFileSync(recording, `${JSON.stringify({ ...asked, response: { answer: 'So.' } })}\n`);
    const argv = RUN_SUM.map((word) => (word === AGENTS ? `replay:${recording}` : word));
    const says = { [DECIDE]: ['q', 'later'], 'your question (empty: back): ': ['Why?', ''] };
    const { stdout } = await callMain(dir, [...argv, '--id', 'answering'], person(says));
    expect(stdout).toMatch(/^ {2}q {2}talk/m);
    expect(stdout).toContain('\nSo.\n');
    expect(stdout).not.toContain('questions are not possible');
  });

  test('what cannot be seen at a gate is made visible', async ({ dir }) => {
    const brief = join(dir, 'brief.md');
    writeFileSync(brief, '# Sum\n\n\u001b[2Jdecide: a\u202e\u0007\n');
    const called = await callMain(dir, ['run', brief, '--id', 'sum', '--agents', 'none'], person({}));
    expect(called.stdout).toContain('decide: a⟨U+202E⟩⟨U+0007⟩');
    const unseen = ['\u001b[2J', '\u202e', '\u0007'].filter((text) => called.stdout.includes(text));
    expect(unseen).toEqual([]);
  });
});

describe('a rejection without feedback', () => {
  test('is written in the editor on a terminal; an empty one decides nothing', async ({ dir }) => {
    await callMain(dir, RUN_EMPTY);
    const io = person({});
    const empty = await callMain(dir, ['reject', 'sum'], { ...io, env: { ...NO_CI, EDITOR: 'true' } });
    expect(empty).toMatchObject({ exitCode: 75, stderr: 'No decision was recorded; the gate stays open.\n' });
    const EDITOR = `node -e 'require("fs").appendFileSync(process.argv[1], "# One file\\nnot two\\n")'`;
    const said = await callMain(dir, ['reject', 'sum'], { ...io, env: { ...NO_CI, EDITOR } });
    expect(said).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await callMain(dir, ['log', 'sum'])).stdout).toContain(': # One file not two');
  });

  test('is refused where nobody can write it', async ({ dir }) => {
    const refused = await callMain(dir, ['reject', 'sum']);
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toContain('--feedback');
  });
});
