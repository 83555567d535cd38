import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Activity,
  type AgentCall,
  callUsage,
  classifyError,
  DevsError,
  isDevsError,
  type ResearchRequest,
  type StageAgents,
  type TaskRequest,
} from '@devs/core';
import { afterEach, describe, expect, type MockInstance, onTestFinished, test, vi } from 'vitest';
import {
  type ChatRequest,
  ChatServer,
  callOf,
  type Reply,
  type Script,
  USAGE,
} from '../../../core/test/support/ChatServer.ts';
import { type ModelAgentsOptions, modelAgents } from '../../src/models/modelAgents.ts';

type WorkspaceReader = NonNullable<ResearchRequest['workspace']>;
type UsageReport = Parameters<AgentCall['usage']>[0];

const KEY = 'sk-canary-0123456789abcdef';
/** Refusals in a row; each is waited for a second, the least that is. */
const STORM = 12;
const VERDICT = {
  approved: true,
  comments: 'Fine.',
  evidence: [{ criterion: '2 + 2 is 4', shownBy: 'sum.test.js: adds' }],
};
const REVIEW = callOf('submit_review', VERDICT);

const servers: ChatServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function serve(script: Script | readonly Reply[]): Promise<ChatServer> {
  const server = await ChatServer.start(script);
  servers.push(server);
  return server;
}

function agentsOn(server: ChatServer, options: Partial<ModelAgentsOptions> = {}): Promise<StageAgents> {
  const settings = { apiKey: KEY, configuration: { baseURL: server.url } };
  return modelAgents({ model: 'openai:scripted', settings, ...options });
}

/** A call as the engine makes it, which keeps what was reported. */
function aCall(signal = new AbortController().signal) {
  const used = { tokensIn: 0, tokensOut: 0 };
  return {
    used,
    idempotencyKey: 'run/visit/step',
    signal,
    usage: (report: UsageReport) => {
      const { tokensIn = 0, tokensOut = 0 } = callUsage(report);
      used.tokensIn += tokensIn;
      used.tokensOut += tokensOut;
    },
  };
}

function folder(files: Readonly<Record<string, string>>): WorkspaceReader {
  return { dir: '/w', list: async () => Object.keys(files), read: async (path) => files[path] ?? '' };
}

const aTask = (files: Readonly<Record<string, string>> = {}): TaskRequest => ({
  task: { taskId: 'sum:1', name: 'Add numbers', description: 'A sum.', acceptanceCriteria: ['2 + 2 is 4'] },
  documents: [],
  attempt: 1,
  lastFailure: null,
  guidance: [],
  workspace: folder(files),
});

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.unreachable('it succeeded'),
    (error: unknown) => error,
  );
}

/** LangChain takes a whole answer whose calls are all malformed for that of an old package, and says so. */
function langChainWarnings(): MockInstance<typeof console.warn> {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  return warn;
}

/** What the model was told in answer to its calls, in the request that followed. */
function toldIn({ messages }: ChatRequest | undefined = { messages: [] } as never): string {
  return messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => String(content))
    .join('\n');
}

describe.each([true, false])('a model over HTTP, streaming: %s', (streaming) => {
  test('answers by calling the tool of its stage', async () => {
    const server = await serve([callOf('submit_documents', REPORTS)]);
    const agents = await agentsOn(server, { streaming });

    expect(await agents.research({ brief: '# Sum', attempt: 1 }, aCall())).toEqual(REPORTS);
    const [request] = server.requests;
    expect(request).toMatchObject({ model: 'scripted', stream: streaming });
    expect(request?.tools.map((tool) => tool.function.name)).toEqual(['submit_documents']);
    expect(request?.messages[0]?.content).toContain('Stage: research');
    expect(request?.messages[1]?.content).toBe('<brief>\n# Sum\n</brief>');
  });

  test('reads and edits through tools, several in one answer, and every request counts', async () => {
    const server = await serve([
      callOf('list_files', {}),
      {
        kind: 'calls',
        calls: [
          { name: 'read_file', arguments: '{"path":"src/sum.js"}' },
          { name: 'edit_file', arguments: '{"path":"src/sum.js","find":"0","replace":"a + b"}' },
          { name: 'write_file', arguments: '{"path":"src/index.js","content":"export *"}' },
          { name: 'delete_file', arguments: '{"path":"old.js"}' },
        ],
      },
      callOf('finish', { summary: 'Adds.' }),
    ]);
    const call = aCall();
    const agents = await agentsOn(server, { streaming });
    const work = await agents.implement(aTask({ 'src/sum.js': 'return 0;', 'old.js': '' }), call);

    expect(work).toEqual({
      summary: 'Adds.',
      files: [
        { path: 'src/sum.js', content: 'return a + b;' },
        { path: 'src/index.js', content: 'export *' },
        { path: 'old.js', content: null },
      ],
      read: [{ path: 'src/sum.js', fromLine: 1, lines: 1 }],
    });
    expect(toldIn(server.requests[1])).toBe('old.js\nsrc/sum.js');
    expect(toldIn(server.requests[2])).toContain('return 0;\nEdited.\nWrote 8 characters.\nDeleted.');
    expect(call.used).toEqual({
      tokensIn: 3 * USAGE.prompt_tokens,
      tokensOut: 3 * USAGE.completion_tokens,
    });
  });

  test('is told once what is wrong with its answer, and repairs it', async () => {
    const server = await serve([callOf('submit_review', { approved: 'yes' }), REVIEW]);
    const agents = await agentsOn(server, { streaming });

    expect(await agents.review(aTask(), aCall())).toEqual(VERDICT);
    expect(toldIn(server.requests[1])).toMatch(
      /input of submit_review is not valid:\n- approved: .*\n- comments: /,
    );
  });

  test('approves only with something that shows each acceptance criterion', async () => {
    const server = await serve([callOf('submit_review', { ...VERDICT, evidence: [] }), REVIEW]);
    const agents = await agentsOn(server, { streaming });

    expect(await agents.review(aTask(), aCall())).toEqual(VERDICT);
    expect(toldIn(server.requests[1])).toContain('nothing shows "2 + 2 is 4"');
  });

  test('repairs JSON that is malformed; the history stays one a provider accepts', async () => {
    const broken = {
      kind: 'calls',
      calls: [{ name: 'submit_review', arguments: '{"approved": tru' }],
    } as const;
    const warnings = langChainWarnings();
    const server = await serve([broken, REVIEW]);
    const agents = await agentsOn(server, { streaming });

    expect(await agents.review(aTask(), aCall())).toEqual(VERDICT);
    expect(warnings).toHaveBeenCalledTimes(streaming ? 0 : 2);
    const { messages = [] } = server.requests[1] ?? {};
    const [asked, answered] = messages.slice(-2);
    expect(asked?.tool_calls?.map(({ id }) => id)).toEqual([answered?.tool_call_id]);
    expect(answered?.content).toMatch(/^The input is not JSON/);
  });

  test('never passes half an answer for a whole one when the output limit cuts it', async () => {
    const half = '{"path":"a.js","content":"export const';
    const warnings = langChainWarnings();
    const server = await serve([
      { kind: 'calls', finish: 'length', calls: [{ name: 'write_file', arguments: half }] },
      callOf('finish', { summary: 'Nothing.' }),
    ]);
    const agents = await agentsOn(server, { streaming });

    expect((await agents.implement(aTask(), aCall())).files).toEqual([]);
    expect(warnings).toHaveBeenCalledTimes(streaming ? 0 : 2);
    expect(toldIn(server.requests[1])).toMatch(/cut off at the output limit/);
  });

  test('that is wrong twice in a row ends the call with a typed error, not a third request', async () => {
    const server = await serve([callOf('submit_review', {}), { kind: 'text', text: 'Looks good!' }]);
    const agents = await agentsOn(server, { streaming });
    const error = await failureOf(agents.review(aTask(), aCall()));

    expect(isDevsError(error, 'AGENT_INVALID_OUTPUT')).toBe(true);
    expect(String(error)).toContain('openai:scripted did not return a valid answer for the stage review');
    expect(classifyError(error)).toBe('logic');
    expect(server.requests).toHaveLength(2);
  });

  test('with a cut connection fails as transient, after one request', async () => {
    const server = await serve([{ kind: 'cut' }]);
    const error = await failureOf((await agentsOn(server, { streaming })).review(aTask(), aCall()));

    expect(error).toMatchObject({ code: 'AGENT_FAILED', context: { model: 'openai:scripted' } });
    expect(classifyError(error)).toBe('transient');
    expect(server.requests).toHaveLength(1);
  });

  test('that is slow meets the time limit, as a transient failure', async () => {
    const server = await serve([{ kind: 'silence' }]);
    const agents = await agentsOn(server, { streaming, timeoutMs: 50 });
    const error = await failureOf(agents.review(aTask(), aCall()));

    expect(error).toMatchObject({ code: 'AGENT_FAILED', message: expect.stringContaining('within 50 ms') });
    expect(classifyError(error)).toBe('transient');
  });

  test('lets go of its connection when the call is aborted', async () => {
    const server = await serve([{ kind: 'silence' }]);
    const stop = new AbortController();
    const asked = (await agentsOn(server, { streaming })).review(aTask(), aCall(stop.signal));
    await expect.poll(() => server.requests.length).toBe(1);
    stop.abort(new Error('stopped by the operator'));

    await expect(asked).rejects.toThrow('stopped by the operator');
    await expect.poll(() => server.abandoned).toBe(1);
  });
});

describe('test, code and documentation of a task', () => {
  const stages = [
    callOf('read_file', { path: 'src/sum.js' }),
    callOf('finish', { summary: 'A test.' }),
    callOf('finish', { summary: 'The code.' }),
    callOf('finish', { summary: 'No documents.' }),
  ];
  const files = { 'src/sum.js': 'export {};' };
  const red = { passed: false, exitCode: 1, timedOut: false, output: 'not ok 1', command: 'npm test' };

  test('are one conversation: what comes first stays as it is, and the stage is last', async () => {
    const server = await serve(stages);
    const agents = await agentsOn(server);
    const call = { ...aCall(), conversation: 'run/1' };
    const told: string[] = [];
    const listening = {
      ...call,
      onActivity: (activity: Activity) => told.push('prompt' in activity ? activity.prompt : ''),
    };
    expect(await agents.writeTest(aTask(files), call)).toMatchObject({
      read: [{ path: 'src/sum.js', fromLine: 1, lines: 1 }],
    });
    await agents.implement(
      { ...aTask(files), test: { files: ['a.test.js'], diff: '+ a test', red } },
      listening,
    );
    await agents.document(
      { ...aTask(files), diff: '+ code', files: [{ path: 'a.js', added: 1, removed: 0 }] },
      call,
    );
    const [, second, third, fourth] = server.requests;
    const last = String(third?.messages.at(-1)?.content);
    expect(third?.messages.slice(0, -1)).toEqual([
      ...(second?.messages ?? []),
      ...(third?.messages.slice(4, -1) ?? []),
    ]);
    expect(last).toContain('<check_without_the_code>\nnpm test: failed\nnot ok 1');
    expect(last).toContain('Stage: implement');
    expect(last).not.toContain('+ a test');
    expect(told.join('')).toBe(last);
    expect(fourth?.messages.at(-1)?.content).toMatch(/<changed_files>\na\.js \+1 -0[\s\S]+Stage: document/);
    expect(fourth?.messages.at(-1)?.content).not.toContain('+ code');
    const tools = server.requests.map((request) => JSON.stringify(request.tools));
    expect(new Set(tools).size).toBe(1);
  });

  test('are told all of it again where what was said is lost with its process', async () => {
    const server = await serve(stages.slice(1));
    const call = { ...aCall(), conversation: 'run/1' };
    await (await agentsOn(server)).writeTest(aTask(files), call);
    const request = {
      ...aTask(files),
      test: { files: ['a.test.js'], diff: '+ a test', red },
      excerpts: [{ path: 'src/sum.js', fromLine: 1, content: 'export {};' }],
    };
    await (await agentsOn(server)).implement(request, call);
    const messages = server.requests[1]?.messages ?? [];
    expect(messages).toHaveLength(2);
    const text = String(messages[1]?.content);
    for (const part of [
      '# Add numbers',
      '<file path="src/sum.js"',
      '+ a test',
      'not ok 1',
      'Stage: implement',
    ])
      expect(text).toContain(part);
    expect(text.indexOf('Stage: implement')).toBeGreaterThan(text.indexOf('not ok 1'));
  });
});

describe('a provider that refuses', () => {
  test.each([
    [503, 'transient'],
    [401, 'logic'],
    [404, 'logic'],
  ] as const)('with %i fails as %s, after one request', async (status, kind) => {
    const server = await serve([{ kind: 'status', status, message: 'Refused.' }]);
    const error = await failureOf((await agentsOn(server)).review(aTask(), aCall()));

    expect(error).toMatchObject({ code: 'AGENT_FAILED', context: { status } });
    expect(classifyError(error)).toBe(kind);
    expect(server.requests).toHaveLength(1);
  });

  test('is given the time it asks for before the failure is handed on', async () => {
    const server = await serve([{ kind: 'status', status: 429, message: 'Slow down.', retryAfter: '30' }]);
    const stop = new AbortController();
    const asked = (await agentsOn(server)).review(aTask(), aCall(stop.signal));
    await expect.poll(() => server.requests.length).toBe(1);
    const isStillWaiting = Symbol('waiting');
    expect(await Promise.race([asked, sleep(100, isStillWaiting)])).toBe(isStillWaiting);
    stop.abort(new Error('stopped by the operator'));

    await expect(asked).rejects.toThrow('stopped by the operator');
  });

  test('is not waited for when it asks for an hour: the error says when it takes requests again', async () => {
    const server = await serve([{ kind: 'status', status: 429, message: 'Gone home.', retryAfter: '3600' }]);
    const begun = Date.now();
    const error = await failureOf((await agentsOn(server)).review(aTask(), aCall()));

    expect(error).toMatchObject({ code: 'AGENT_FAILED', context: { waitedMs: 0 } });
    const { retryAt } = (error as { readonly context: { readonly retryAt: string } }).context;
    expect(Date.parse(retryAt)).toBeGreaterThanOrEqual(begun + 3_600_000);
  });

  test('because it has had enough is asked again, a storm of it through, and the conversation goes on', async () => {
    const storm: Reply[] = Array.from({ length: STORM }, () => ({
      ...({ kind: 'status', status: 429, message: 'Slow down.', retryAfter: '0.005' } as const),
    }));
    const server = await serve([
      callOf('write_file', { path: 'a.js', content: '1' }),
      ...storm,
      callOf('finish', { summary: 'Wrote it.' }),
    ]);
    const told: string[] = [];
    const call = {
      ...aCall(),
      onActivity: (activity: Activity) => told.push('what' in activity ? activity.what : ''),
    };
    const patience = { maxWaitMs: 120_000 };
    expect((await (await agentsOn(server, patience)).implement(aTask(), call)).files).toHaveLength(1);
    expect(told.filter((what) => what.includes('takes no more requests (429)'))).toHaveLength(STORM);
    expect(server.requests.at(-1)?.messages).toEqual(server.requests[1]?.messages);
  });

  test('for the length of the conversation is sent a shorter one', async () => {
    const long = 'line\n'.repeat(6_000);
    const server = await serve((request) => {
      const size = JSON.stringify(request.messages).length;
      if (size > 60_000)
        return { kind: 'status', status: 400, message: "This model's maximum context length is 9 tokens." };
      const read = request.messages.filter(({ role }) => role === 'tool').length;
      return read < 6 ? callOf('read_file', { path: 'long.txt' }) : callOf('finish', { summary: 'Read.' });
    });
    const told: string[] = [];
    const call = {
      ...aCall(),
      onActivity: (activity: Activity) => told.push('what' in activity ? activity.what : ''),
    };
    const agents = await agentsOn(server);
    expect((await agents.implement(aTask({ 'long.txt': long }), call)).summary).toBe('Read.');
    expect(told.some((what) => what.includes('leaving out what was read first'))).toBe(true);
    const kept = toldIn(server.requests.at(-1));
    expect(kept).toContain('characters are left out to make room');
  });

  test('for the length of the request alone ends with what helps', async () => {
    const server = await serve([
      { kind: 'status', status: 400, message: 'prompt is too long: 214315 tokens > 200000 maximum' },
    ]);
    const error = await failureOf((await agentsOn(server)).review(aTask(), aCall()));
    expect(error).toMatchObject({
      code: 'AGENT_FAILED',
      message: expect.stringContaining('more to read than openai:scripted takes at once'),
      remedy: expect.stringContaining('larger context (--agents review=…)'),
    });
    expect(classifyError(error)).toBe('logic');
    expect(server.requests).toHaveLength(1);
  });

  test('can say the key: the error does not', async () => {
    const server = await serve([
      { kind: 'status', status: 401, message: `Incorrect API key provided: ${KEY}` },
    ]);
    const error = await failureOf((await agentsOn(server)).review(aTask(), aCall()));

    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect((error as Error).message).toContain('Incorrect API key provided');
    expect((error as Error).message).not.toContain(KEY);
  });

  test('costs no finished request: the retry of the step goes on where it failed', async () => {
    const server = await serve([
      callOf('write_file', { path: 'a.js', content: '1' }),
      { kind: 'cut' },
      callOf('finish', { summary: 'Wrote it.' }),
    ]);
    const agents = await agentsOn(server);
    const call = aCall();
    await failureOf(agents.implement(aTask(), call));

    expect(await agents.implement(aTask(), call)).toEqual({
      summary: 'Wrote it.',
      files: [{ path: 'a.js', content: '1' }],
    });
    expect(server.requests[2]?.messages).toEqual(server.requests[1]?.messages);
  });
});

test('a model whose budget ends within a stage makes no further request, and goes on there once it is raised', async () => {
  const server = await serve([
    callOf('write_file', { path: 'a.js', content: '1' }),
    callOf('write_file', { path: 'b.js', content: '2' }),
    callOf('finish', { summary: 'Wrote both.' }),
  ]);
  const agents = await agentsOn(server);
  const spent = new DevsError('The next request would exceed the budget.', {
    code: 'BUDGET_SPENT',
    remedy: 'Raise it.',
  });
  let allowed = 2;
  const call = {
    ...aCall(),
    beforeRequest: () => {
      if (server.requests.length >= allowed) throw spent;
    },
  };
  expect(await failureOf(agents.implement(aTask(), call))).toBe(spent);
  expect(server.requests).toHaveLength(2);
  allowed = 9;
  expect(await agents.implement(aTask(), call)).toEqual({
    summary: 'Wrote both.',
    files: [
      { path: 'a.js', content: '1' },
      { path: 'b.js', content: '2' },
    ],
  });
  expect(server.requests).toHaveLength(3);
  expect(call.used).toEqual({ tokensIn: 3 * USAGE.prompt_tokens, tokensOut: 3 * USAGE.completion_tokens });
});

describe('a model that uses its tools wrongly', () => {
  test('hears why, and may go on', async () => {
    const server = await serve([
      callOf('write_file', { path: '../outside.js', content: '' }),
      callOf('read_file', { path: 'missing.js' }),
      callOf('edit_file', { path: 'a.js', find: 'x', replace: 'y' }),
      callOf('finish', { summary: 'Gave up.' }),
    ]);
    const work = await (await agentsOn(server)).implement(aTask({ 'a.js': 'x x' }), aCall());

    expect(work.files).toEqual([]);
    const told = toldIn(server.requests[3]);
    expect(told).toContain('"../outside.js" is refused: it leaves the workspace');
    expect(told).toContain('There is no file missing.js.');
    expect(told).toContain('occurs 2 times in a.js');
  });

  test('does not finish beside a call that failed', async () => {
    const both: Reply = {
      kind: 'calls',
      calls: [
        { name: 'edit_file', arguments: '{"path":"a.js","find":"z","replace":"y"}' },
        { name: 'finish', arguments: '{"summary":"Done."}' },
      ],
    };
    const server = await serve([both, callOf('finish', { summary: 'Not done.' })]);

    expect((await (await agentsOn(server)).implement(aTask({ 'a.js': 'x' }), aCall())).summary).toBe(
      'Not done.',
    );
  });

  test('may write its answer down as JSON instead', async () => {
    const text = 'My verdict:\n```json\n{"approved": false, "comments": "No tests."}\n```';
    const server = await serve([{ kind: 'text', text }]);

    expect(await (await agentsOn(server)).review(aTask(), aCall())).toEqual({
      approved: false,
      comments: 'No tests.',
    });
  });

  test('hears of a tool it invented, and of a plan that cannot be carried out', async () => {
    const server = await serve([callOf('submit', {}), callOf('submit_plan', aCyclicPlan())]);
    const request = { brief: '# Sum', attempt: 1, documents: [], feedback: null };
    const error = await failureOf((await agentsOn(server)).distill(request, aCall()));

    expect(toldIn(server.requests[1])).toBe('There is no tool "submit"; there are submit_plan.');
    expect(String(error)).toContain('the cycle a → b → a');
  });

  test('that never ends is stopped after the allowed number of requests', async () => {
    const server = await serve(() => callOf('list_files', {}));
    const error = await failureOf((await agentsOn(server, { maxRounds: 3 })).implement(aTask(), aCall()));

    expect(error).toMatchObject({ code: 'AGENT_INVALID_OUTPUT', context: { requests: 3 } });
    expect(server.requests).toHaveLength(3);
  });
});

describe('modelAgents', () => {
  test('proposes another strategy for a task that is stuck', async () => {
    const answer = { strategy: 'Begin with the smallest case.', reason: 'The whole was too much.' };
    const server = await serve([callOf('submit_strategy', answer)]);
    const { task, documents } = aTask();
    const tried = { attempt: 2, tried: [], observations: [], errors: [], guidance: [], refused: null };
    const agents = await agentsOn(server);
    const request = { task, documents, reason: 'same_output', ...tried } as const;

    expect(await agents.pivot?.(request, aCall())).toEqual(answer);
    expect(server.requests[0]?.messages[0]?.content).toContain('Stage: pivot');
  });

  test('gives a stage to another model, and names both', async () => {
    const server = await serve([REVIEW, callOf('finish', { summary: 'Said.' })]);
    const agents = await agentsOn(server, { perStage: { review: 'openai:careful' } });
    await agents.review(aTask(), aCall());
    await agents.document(aTask(), aCall());

    expect(server.requests.map(({ model }) => model)).toEqual(['careful', 'scripted']);
    expect(agents).toMatchObject({ name: 'openai:scripted + openai:careful', provenance: 'live' });
  });

  test('tells what a model does while it does it', async () => {
    const server = await serve([callOf('list_files', {}), REVIEW]);
    const told: unknown[] = [];
    const call = { ...aCall(), onActivity: (activity: Activity) => told.push(activity) };
    await (await agentsOn(server)).review(aTask(), call);

    const spent = (times: number) => ({
      tokensIn: times * USAGE.prompt_tokens,
      tokensOut: times * USAGE.completion_tokens,
      model: 'openai:scripted',
    });
    expect(told).toMatchObject([
      {
        kind: 'prompt',
        prompt: expect.stringMatching(/^You are one of[\s\S]+Stage: review[\s\S]+# Add numbers/),
      },
      { kind: 'tool', name: 'list_files', state: 'started' },
      { kind: 'tool', name: 'list_files', state: 'finished' },
      { kind: 'usage', usage: spent(1) },
      { kind: 'tool', name: 'submit_review', state: 'started' },
      { kind: 'tool', name: 'submit_review', state: 'finished' },
      { kind: 'usage', usage: spent(2) },
    ]);
  });
});

const REPORTS = {
  documents: ['MARKET', 'COMPETITION', 'TECHNOLOGY', 'USERS'].map((type) => ({
    type,
    title: 'Findings',
    content: 'It is known.\n\n## Claims\n- [sourced: Euclid] It is known.\n',
  })),
};

function aCyclicPlan() {
  const task = (key: string, on: string) => ({
    key,
    name: key,
    description: '',
    dependsOn: [on],
    requirements: [],
    acceptanceCriteria: [],
  });
  return {
    requirements: [],
    epics: [{ name: 'All', description: '', tasks: [task('a', 'b'), task('b', 'a')] }],
  };
}
