import path from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import type { GateComment } from '../../engine/gates/answerForms.ts';
import type { Gate } from '../../engine/gates/Gate.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { DesignRequest, DistillRequest, StageAgents, TaskRequest } from '../../orchestration/ports.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator, type StartOptions } from '../Orchestrator.ts';
import type { Run } from '../Run.ts';

const ada = { kind: 'human', id: 'ada' } as const;

const TAS = '# Design\n\nTwo tables.\nOne file.\n';

interface Requests {
  readonly design: DesignRequest[];
  readonly distill: DistillRequest[];
  readonly implement: TaskRequest[];
}

/** A design of two documents; `contents` are those of the TAS, one per attempt. */
async function aRun(
  dbPath: string,
  {
    contents = [TAS],
    start = {},
  }: { readonly contents?: readonly string[]; readonly start?: Partial<StartOptions> } = {},
) {
  const fake = fakeAgents();
  const requests: Requests = { design: [], distill: [], implement: [] };
  const agents: StageAgents = {
    ...fake,
    design: async (request) => {
      requests.design.push(request);
      const content = contents[requests.design.length - 1] ?? contents.at(-1) ?? '';
      const prd = { type: 'PRD', title: 'What', content: 'A table is exported.\n' };
      return { documents: [prd, { type: 'TAS', title: 'How', content }] };
    },
    distill: (request, call) => {
      requests.distill.push(request);
      return fake.distill(request, call);
    },
    implement: (request, call) => {
      requests.implement.push(request);
      return fake.implement(request, call);
    },
  };
  const workspace = new MemoryWorkspace();
  const dir = path.dirname(dbPath);
  const devs = await Orchestrator.open({ dir, agents, workspace, checks: scriptedChecks() });
  onTestFinished(() => devs.close());
  const run = await devs.start({ id: 'shop', brief: '# Shop', ...start });
  return { run, requests, workspace, dir, devs };
}

const gateOf = async (run: Run): Promise<Gate> => ((await run.gates()) as readonly [Gate])[0];

async function reject(run: Run, comments: readonly GateComment[], feedback?: string): Promise<void> {
  await run.decide(await gateOf(run), { approved: false, feedback, comments, by: ada });
  await run.resume();
}

async function approve(run: Run): Promise<void> {
  await run.decide(await gateOf(run), { approved: true, by: ada });
  await run.resume();
}

describe('comments on a design', () => {
  const one = { in: 'TAS', quote: 'Two tables.', line: 3, text: 'Why not one?' };

  test('reach the agent that writes it again, below what they quote', async ({ dbPath }) => {
    const { run, requests } = await aRun(dbPath);
    await run.resume();
    const other = { in: 'PRD', quote: 'A table is exported.\n', text: 'To which format?' };
    await reject(run, [one, other], 'Nearly.');
    expect(requests.design[1]?.feedback).toBe(
      'Nearly.\n\nOn TAS, line 3:\n> Two tables.\nWhy not one?\n\nOn PRD:\n> A table is exported.\n> \nTo which format?',
    );
  });

  test('are reason enough for a rejection', async ({ dbPath }) => {
    const { run, requests } = await aRun(dbPath);
    await run.resume();
    await reject(run, [one]);
    expect(requests.design[1]?.feedback).toBe('On TAS, line 3:\n> Two tables.\nWhy not one?');
    const told = (await run.log()).find(({ name }) => name === 'HITL_SESSION_DECIDED');
    expect(told?.payload).toMatchObject({ said: 'rejected', words: 'Why not one?', comments: 1 });
  });

  test('are part of the recorded decision', async ({ dbPath }) => {
    const { run } = await aRun(dbPath);
    await run.resume();
    await reject(run, [one], 'Nearly.');
    const [closed] = await run.closedGates();
    expect(closed?.decision).toEqual({ approved: false, feedback: 'Nearly.', comments: [one] });
    expect((await run.state())?.hitlDecisions[0]?.signal.comments).toEqual([one]);
  });

  test('are told from each other in the next round', async ({ dbPath }) => {
    const { run } = await aRun(dbPath, { contents: [TAS, '# Design\n\nOne table.\nOne file.\n'] });
    await run.resume();
    expect(await run.lastComments(await gateOf(run))).toEqual([]);
    const file = { in: 'shop/TAS', quote: 'One file.', text: 'Good?' };
    await reject(run, [one, file]);
    const gate = await gateOf(run);
    expect(await run.lastComments(gate)).toMatchObject([
      { ...one, by: 'human:ada', since: 'changed', at: expect.stringMatching(/^\d{4}-.*Z$/) },
      { ...file, since: 'unchanged' },
    ]);
    await run.decide(gate, {
      action: 'edit',
      documents: [{ type: 'TAS', title: 'How', content: '# Design\n' }],
      by: ada,
    });
    await run.resume();
    const both = await run.lastComments(await gateOf(run));
    expect(both.map(({ since }) => since)).toEqual(['changed', 'changed']);
    // The number was recorded with each gate when it opened.
    expect(gate.comments).toEqual({ answered: 1, total: 2 });
    expect((await gateOf(run)).comments).toEqual({ answered: 2, total: 2 });
    await approve(run);
    expect(await run.lastComments(await gateOf(run))).toEqual([]);
  });

  const REFUSED: readonly (readonly [string, Partial<GateComment>, string])[] = [
    ['a quote that is not there', { quote: 'Three tables.' }, 'Three tables.'],
    ['a quote on another line', { line: 4 }, 'TAS, line 4'],
    ['a line past the end', { line: 400 }, 'TAS, line 400'],
    ['another document', { in: 'ADR' }, 'ADR'],
    ['a member of every object', { in: '__proto__' }, '__proto__'],
    ['a quote of another document', { in: 'PRD', line: 1 }, 'PRD, line 1'],
  ];

  test('are refused on what is not shown, before anything is written', async ({ dbPath }) => {
    const { run } = await aRun(dbPath);
    await run.resume();
    const gate = await gateOf(run);
    for (const [what, wrong, named] of REFUSED) {
      const comments = [one, { ...one, ...wrong }];
      const answer = { approved: false, comments: comments as never, by: ada };
      await expect(run.decide(gate, answer), what).rejects.toMatchObject({
        code: 'QUOTE_NOT_SHOWN',
        message: expect.stringContaining(named),
        remedy: expect.stringContaining('PRD, TAS'),
        context: { comment: 2 },
      });
    }
    expect(await run.closedGates()).toEqual([]);
  });

  const INVALID: readonly (readonly [string, unknown, string])[] = [
    ['an empty quote', [{ ...one, quote: ' \n' }], 'comments.0.quote: Is empty'],
    ['an empty text', [{ ...one, text: '' }], 'comments.0.text: Is empty'],
    ['a line that is none', [{ ...one, line: 0 }], 'comments.0.line'],
    ['another member', [{ ...one, by: 'ada' }], 'comments.0'],
    ['a quote of 1 MiB', [{ ...one, quote: 'x'.repeat(2 ** 20) }], 'comments.0.quote: Longer than 4 KiB'],
    ['thousands', Array.from({ length: 5000 }, () => one), 'comments: More than 200'],
    [
      'much together',
      Array.from({ length: 33 }, () => ({ ...one, text: 'x'.repeat(4096) })),
      'Longer than 128 KiB',
    ],
    ['what is no list', one, 'comments'],
    ['what is no comment', [null], 'comments.0'],
  ];

  test('are refused in another form, or in masses', async ({ dbPath }) => {
    const { run } = await aRun(dbPath);
    await run.resume();
    const gate = await gateOf(run);
    for (const [what, comments, why] of INVALID) {
      const answer = { approved: false, comments: comments as never, by: ada };
      await expect(run.decide(gate, answer), what).rejects.toMatchObject({
        code: 'INVALID_ANSWER',
        message: expect.stringContaining(why),
      });
    }
    expect(await run.closedGates()).toEqual([]);
  });

  test('are not taken beside a yes, from an agent, or on another version', async ({ dbPath }) => {
    const { run } = await aRun(dbPath);
    await run.resume();
    const gate = await gateOf(run);
    const no = { approved: false, comments: [one] };
    const code = (answer: Parameters<Run['decide']>[1], shown = gate): Promise<unknown> =>
      run.decide(shown, answer).catch((error) => error.code as unknown);
    expect(await code({ approved: true, comments: [one], by: ada })).toBe('INVALID_ANSWER');
    expect(await code({ ...no, by: { kind: 'agent', id: 'a' } })).toBe('AGENT_MAY_NOT_DECIDE');
    expect(await code({ ...no, by: ada }, { ...gate, artifactHash: 'f'.repeat(64) })).toBe('GATE_STALE');
    expect(await code({ approved: false, comments: [], by: ada })).toBe('FEEDBACK_REQUIRED');
  });

  test('are masked, and quote what is masked', async ({ dbPath }) => {
    const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
    const { run, requests } = await aRun(dbPath, { contents: [`Use ${secret} here.\n`] });
    await run.resume();
    await reject(run, [{ in: 'TAS', quote: `Use ${secret} here.`, text: `Never ${secret}!` }]);
    const [closed] = await run.closedGates();
    expect(JSON.stringify(closed)).not.toContain(secret);
    expect(requests.design[1]?.feedback).not.toContain(secret);
    expect(await run.lastComments(await gateOf(run))).toMatchObject([{ since: 'unchanged' }]);
  });

  test('may quote what turns the text round', async ({ dbPath }) => {
    const { run, requests } = await aRun(dbPath, { contents: ['pay \u202Eeve\u0007 now\n'] });
    await run.resume();
    await reject(run, [{ in: 'TAS', quote: '\u202Eeve\u0007', line: 1, text: 'What is \u202E that?' }]);
    expect(requests.design[1]?.feedback).toContain('> \u202Eeve\u0007\nWhat is \u202E that?');
  });
});

test('comments survive whoever recorded them, and a driver that dies in the call they are told in', async ({
  dbPath,
}) => {
  const { run, devs, dir } = await aRun(dbPath);
  await run.resume();
  const comments = [{ in: 'TAS', quote: 'Two tables.', line: 3, text: 'Why not one?' }];
  await run.decide(await gateOf(run), { approved: false, comments, by: ada });
  devs.close();
  const asked: DesignRequest[] = [];
  const dying = new DevsError('The model is out of reach.', { code: 'AGENT_FAILED', remedy: 'Try again.' });
  for (const isLast of [false, true]) {
    const design: StageAgents['design'] = async (request) => {
      asked.push(request);
      if (!isLast) throw dying;
      return { documents: [{ type: 'TAS', title: 'How', content: 'One table.\n' }] };
    };
    const agents = { ...fakeAgents(), design };
    const next = await Orchestrator.open({
      dir,
      agents,
      workspace: new MemoryWorkspace(),
      checks: scriptedChecks(),
    });
    const same = await next.run('shop');
    await same.resume().catch(() => undefined);
    if (isLast) expect(await same.lastComments(await gateOf(same))).toMatchObject([{ since: 'changed' }]);
    next.close();
  }
  expect(asked.length).toBeGreaterThan(1);
  expect(new Set(asked.map(({ feedback }) => feedback))).toEqual(
    new Set(['On TAS, line 3:\n> Two tables.\nWhy not one?']),
  );
});

test('comments on a plan reach who plans again, under the labels of its tasks', async ({ dbPath }) => {
  const { run, requests } = await aRun(dbPath);
  await run.resume();
  await approve(run);
  const places = await run.quotableSections(await gateOf(run));
  const [task] = places;
  expect(task?.names[0]).toBe('T1');
  const quote = task?.texts[0].split('\n')[0] ?? '';
  await reject(run, [{ in: 'T1', quote, line: 1, text: 'Split it.' }]);
  expect(requests.distill[1]?.feedback).toBe(`On T1, line 1:\n> ${quote}\nSplit it.`);
  expect(await run.lastComments(await gateOf(run))).toMatchObject([{ in: 'T1', since: 'unchanged' }]);
  expect((await gateOf(run)).comments).toEqual({ answered: 0, total: 1 });
});

describe('comments on code', () => {
  const START = { review: 'task', gates: { design: 'auto', dag: 'auto' } } as const;

  test('are checked against the commits that are shown, and answered by the next ones', async ({
    dbPath,
  }) => {
    const { run, requests } = await aRun(dbPath, { start: START });
    await run.resume();
    const gate = await gateOf(run);
    const files = (await run.quotableSections(gate)).filter(({ names: [name = ''] }) => name.includes('/'));
    const shown = await run.quotableSections(gate, { code: false });
    expect(shown.map(({ names: [name = ''] }) => name)).toEqual([`T${gate.taskId.split(':').at(-1)}`]);
    const at = files.find(({ names: [name = ''] }) => name.startsWith('implement/'));
    const [name = '', quote = ''] = [at?.names[0], at?.texts[0].trim()];
    expect(quote).not.toBe('');
    for (const wrong of [
      { in: name, quote: 'never written' },
      { in: 'no/file', quote },
      { in: '../x', quote },
    ]) {
      const comments = [{ ...wrong, text: 'No.' }];
      await expect(run.decide(gate, { approved: false, comments, by: ada })).rejects.toMatchObject({
        code: 'QUOTE_NOT_SHOWN',
      });
    }
    const label = `T${gate.taskId.split(':').at(-1)}`;
    const task = (await run.quotableSections(gate)).find(({ names }) => names.includes(label));
    const criterion = task?.texts[0].split('\n').at(-1) ?? '';
    await reject(run, [
      { in: name, quote, line: 1, text: 'Say more.' },
      { in: label, quote: criterion, text: 'How is it shown?' },
    ]);
    expect(requests.implement.at(-1)?.guidance.at(-1)).toBe(
      `On ${name}, line 1:\n> ${quote}\nSay more.\n\nOn ${label}:\n> ${criterion}\nHow is it shown?`,
    );
    const after = await run.lastComments(await gateOf(run));
    expect(after.map(({ in: place, since }) => [place, since])).toEqual([
      [name, expect.stringMatching(/^(un)?changed$/)],
      [label, 'unchanged'],
    ]);
    const answered = after.filter(({ since }) => since === 'changed').length;
    expect((await gateOf(run)).comments).toEqual({ answered, total: 2 });
  });

  test('are refused where the code cannot be read', async ({ dbPath }) => {
    const { run, dir } = await aRun(dbPath, { start: START });
    await run.resume();
    const gate = await gateOf(run);
    const blind = await Orchestrator.open({ dir });
    onTestFinished(() => blind.close());
    const same = await blind.run('shop');
    const comments = [{ in: 'implement/1.txt', quote: 'x', text: 'No.' }];
    await expect(same.decide(gate, { approved: false, comments, by: ada })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    expect((await same.quotableSections(gate)).every(({ names }) => names.length === 2)).toBe(true);

    const at = (await run.quotableSections(gate)).find(({ names: [name = ''] }) =>
      name.startsWith('implement/'),
    );
    await reject(run, [{ in: at?.names[0] ?? '', quote: at?.texts[0].trim() ?? '', text: 'Say more.' }]);
    const next = await gateOf(run);
    expect(await same.lastComments(next)).toMatchObject([{ since: 'unknown' }]);
    const workspace = Object.assign(new MemoryWorkspace(), {
      readAt: () =>
        Promise.reject(
          new DevsError('No such commit.', { code: 'WORKSPACE_FAILED', remedy: 'Look for it.' }),
        ),
    });
    const lost = await Orchestrator.open({ dir, workspace });
    onTestFinished(() => lost.close());
    expect(await (await lost.run('shop')).lastComments(next)).toMatchObject([{ since: 'unknown' }]);
  });
});

describe('the way a decision was made', () => {
  test('is recorded, and told beside the answer', async ({ dbPath }) => {
    const { run } = await aRun(dbPath);
    await run.resume();
    await run.decide(await gateOf(run), { approved: true, by: ada, via: 'page' });
    const [closed] = await run.closedGates();
    expect(closed).toMatchObject({ decision: { approved: true }, via: 'page' });
    expect(Object.keys(closed?.decision as object)).toEqual(['approved']);
    const told = (await run.log()).find(({ name }) => name === 'HITL_SESSION_DECIDED');
    expect(told?.payload).toMatchObject({ via: 'page' });
    await run.resume();
    await approve(run);
    expect((await run.closedGates())[1]).not.toHaveProperty('via');
  });

  test('is a short word', async ({ dbPath }) => {
    const { run } = await aRun(dbPath);
    await run.resume();
    const gate = await gateOf(run);
    for (const via of ['', 'Page', 'a b', 'x'.repeat(33), 7]) {
      await expect(run.decide(gate, { approved: true, by: ada, via: via as string })).rejects.toThrow(
        TypeError,
      );
    }
    expect(await run.closedGates()).toEqual([]);
  });
});

describe('a gate of another run', () => {
  test('is not decided, edited, asked about or shown under this one', async ({ dbPath }) => {
    const { run, devs } = await aRun(dbPath);
    await run.resume();
    const other = await devs.start({ id: 'other', brief: '# Other' });
    const gate = await gateOf(run);
    const notHere = { code: 'GATE_NOT_FOUND' };
    await expect(other.decide(gate, { approved: true, by: ada })).rejects.toMatchObject(notHere);
    const documents = [{ type: 'TAS', title: 'T', content: 'Mine.' }];
    await expect(other.decide(gate, { action: 'edit', documents, by: ada })).rejects.toMatchObject(notHere);
    await expect(other.ask(gate, 'Why?', { by: ada })).rejects.toMatchObject(notHere);
    await expect(other.askUnavailableReason(gate)).rejects.toMatchObject(notHere);
    await expect(other.recordViewed(gate, ada)).rejects.toMatchObject(notHere);
    expect(await run.gates()).toMatchObject([{ sessionId: gate.sessionId }]);
    await approve(run);
    expect((await run.closedGates())[0]).toMatchObject({ status: 'resumed', principal: 'human:ada' });
  });
});

describe('a rejection of characters that nobody sees', () => {
  test.for(['\u200b\u2060', ' \u3164\n', '\u{e0041}\u{e0042}', '\u202e\u2800'])(
    'says nothing: %j',
    async (unseen, { dbPath }) => {
      const { run } = await aRun(dbPath);
      await run.resume();
      const gate = await gateOf(run);
      await expect(run.decide(gate, { approved: false, feedback: unseen, by: ada })).rejects.toMatchObject({
        code: 'FEEDBACK_REQUIRED',
      });
      const comments = [{ in: 'TAS', quote: 'Two tables.', line: 3, text: unseen }];
      await expect(run.decide(gate, { approved: false, comments, by: ada })).rejects.toMatchObject({
        code: 'INVALID_ANSWER',
      });
      await expect(run.ask(gate, unseen, { by: ada })).rejects.toThrow(TypeError);
      await run.decide(gate, { approved: false, feedback: `${unseen}ν`, by: ada });
    },
  );
});
