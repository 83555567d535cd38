import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Activity } from '@devs/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Bench, callWith, gone, TRANSPORTS } from './Bench.ts';

const VERDICT = { approved: false, comments: 'No.' };

const wordsOf = (told: readonly Activity[]): string =>
  told.map((each) => ('text' in each ? each.text : '')).join('');

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await bench.clear();
});

describe.for(TRANSPORTS)('a coding CLI, %s,', ([, open]) => {
  const implement = async (mode: string) =>
    (await open(bench, mode)).implement(bench.request(), callWith().call);
  const review = async (mode: string) => (await open(bench, mode)).review(bench.request(), callWith().call);

  test('edits in place; its words are the summary, and files the engine takes itself', async () => {
    expect(await implement('edits')).toEqual({ summary: 'It is done.', files: [] });
    expect(readdirSync(bench.dir)).toEqual(['sum.js']);
  });

  test('is told the stage, the task and how to end', async () => {
    const { call, told } = callWith();
    await (await open(bench, 'prompt')).implement(bench.request(), call);
    expect(wordsOf(told)).toMatch(/^Stage: implement/m);
    expect(wordsOf(told)).toContain('1 + 2 is 3');
    expect(wordsOf(told)).toMatch(/edit the files of this folder in place/);
  });

  test.for([
    ['notice', 'is followed by a notice of the program, in the line where the answer ends'],
    ['repaired', 'is sent back an answer of the wrong shape, once'],
    ['twoAnswers', 'gives two answers: the last one counts'],
    ['twoAtOnce', 'says two things in one answer'],
    ['binary', 'prints what is no text before its answer'],
  ] as const)('%s: it %s', async ([mode]) => {
    const judged = review(mode);
    if (mode === 'twoAtOnce') await expect(judged).rejects.toMatchObject({ code: 'AGENT_INVALID_OUTPUT' });
    else expect(await judged).toEqual(VERDICT);
  });

  test('may say that a test is wrong, where it implements', async () => {
    const agents = await open(bench, 'wrongTest');
    const { wrongTest = '' } = await agents.implement(bench.request(), callWith().call);
    expect(wrongTest).toMatch(/^it asks that 1 \+ 2 is 4\. And more/);
    expect(wrongTest).toHaveLength(2_000);
    const tests = await agents.writeTest(bench.request(), callWith().call);
    expect(tests).not.toHaveProperty('wrongTest');
  });

  test('answers a person by the words for that, in an empty folder: nobody would put back what it changes', async () => {
    writeFileSync(join(bench.dir, 'sum.js'), '');
    const agents = await open(bench, 'place');
    const { answer } = (await agents.answer?.(bench.question(), callWith().call)) ?? {};
    expect(answer).toBe(
      'nothing; You made what a person is about to decide on. They ask about it before they do.',
    );
  });

  test('sees the named variables and files of its user, and nothing else', async () => {
    vi.stubEnv('HOME', join(bench.base, 'home'));
    vi.stubEnv('MY_KEY', 'its-own-key');
    vi.stubEnv('OTHER_SECRET', 'not-for-it');
    mkdirSync(join(bench.base, 'home', '.agent'), { recursive: true });
    writeFileSync(join(bench.base, 'home', '.agent', 'login.json'), '{"user":"ada"}');
    const named = { env: ['MY_KEY'], home: ['.agent/login.json', '.agent/none.json'] };
    // The summary is cut at its front: what was told is whole.
    const { call, told } = callWith();
    await (await open(bench, 'environment', named)).implement(bench.request(), call);
    const seen = JSON.parse(wordsOf(told)) as Record<string, string>;
    expect(seen).toMatchObject({ MY_KEY: 'its-own-key', HOME: expect.stringContaining('devs-agent-') });
    expect(seen).not.toHaveProperty('OTHER_SECRET');
    const login = await open(bench, 'login', named);
    expect((await login.implement(bench.request(), callWith().call)).summary).toBe('{"user":"ada"}');
  });

  test.for([
    [
      'nonsense',
      'AGENT_INVALID_OUTPUT',
      /^agent did not return a valid answer for the stage review: There is no JSON object in it\.$/,
    ],
    ['dies', 'AGENT_FAILED', /ended with exit code 3: no login: Authorization: .*REDACTED/],
    ['talks', 'AGENT_FAILED', /ended with exit code 4: (?:.|\n)* and these are its last words\.$/],
    ['diesMidway', 'AGENT_FAILED', /was ended by a signal/],
  ] as const)('that %s is %s in words', async ([mode, code, words]) => {
    const failed = review(mode);
    await expect(failed).rejects.toMatchObject({ code, context: { agent: 'agent' } });
    await expect(failed).rejects.toThrow(words);
    if (mode === 'diesMidway') await Promise.all((await bench.startedPids()).map(gone));
  });

  test('that died is started anew for the next stage', async () => {
    const agents = await open(bench, 'diesOnce');
    const work = () => agents.implement(bench.request(), callWith().call);
    await expect(work()).rejects.toThrow(/exit code 5: Not today/);
    expect((await work()).summary).toBe('Now it works.');
  });

  test('that hangs, deaf to everything, is gone with all that it started once it is aborted and had its time', async () => {
    const stop = new AbortController();
    const agents = await open(bench, 'hangs', { graceMs: 200 });
    const aborted = expect(agents.implement(bench.request(), callWith(stop.signal).call)).rejects.toThrow(
      'enough',
    );
    const pids = await bench.startedPids();
    stop.abort(new Error('enough'));
    await aborted;
    expect(pids).toHaveLength(2);
    await Promise.all(pids.map(gone));
  });

  test('that says nothing is ended at its time limit', async () => {
    const late = (await open(bench, 'silent', { timeoutMs: 500, graceMs: 200 })).implement(
      bench.request(),
      callWith().call,
    );
    await expect(late).rejects.toThrow('agent was stopped after 500 ms');
  });

  test('that lies about its work has done none: what lies in the folder is what counts', async () => {
    const { summary, files } = await implement('lies');
    expect({ summary, files }).toEqual({
      summary: expect.stringContaining('I have changed sum.js'),
      files: [],
    });
    expect(existsSync(join(bench.dir, 'sum.js'))).toBe(false);
  });
});

test.for([
  [
    'over the protocol',
    () => bench.acp({ name: 'x', argv: ['no-such-cli'] }),
    () => bench.acp({ name: 'x', argv: [] }),
  ],
  [
    'as a command',
    () => bench.command({ name: 'x', argv: ['no-such-cli'] }),
    () => bench.command({ name: 'x', argv: [] }),
  ],
] as const)(
  'a coding CLI, %s, that is not installed is refused before anything runs',
  async ([, missing, nameless]) => {
    await expect(missing()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'The command "no-such-cli" of x was not found.',
      remedy: 'Install it, or put its folder on the PATH.',
    });
    await expect(nameless()).rejects.toThrow(TypeError);
  },
);

test('every limit is a positive integer', async () => {
  for (const name of ['timeoutMs', 'maxOutputBytes', 'graceMs']) {
    await expect(bench.acp(bench.program('edits'), { [name]: 0 })).rejects.toThrow(RangeError);
    await expect(bench.command(bench.recipe('edits'), { [name]: 0.5 })).rejects.toThrow(name);
  }
});
