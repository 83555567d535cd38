import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../app/durable.ts';
import type { Gate, GateAnswer } from '../Gate.ts';
import { gateInterrupt, gateOfInterrupt, gateRefusal, resumeAnswer } from '../gateInterrupt.ts';

const State = Annotation.Root({ draft: Annotation<string>(), price: Annotation<number>() });
const ada = { kind: 'human', id: 'ada' } as const;

const one = (work: (state: typeof State.State) => Partial<typeof State.State>) =>
  new StateGraph(State).addNode('publish', work).addEdge(START, 'publish').addEdge('publish', END);

const gateOf = (parts: Partial<Gate>): Gate => ({
  sessionId: 'S',
  threadId: 'run',
  kind: 'node_gate',
  taskId: 'run',
  artifactHash: `${'a'.repeat(16)}${'b'.repeat(48)}`,
  message: 'Approve publish?',
  artifact: { draft: 'Hello' },
  openedAt: '2026-01-01T00:00:00.000Z',
  ...parts,
});

const CALL = gateOf({
  artifact: { tool: 'mail', args: { to: 'bob' } },
  takes: { gate: 'tools', edit: 'args' },
});

/** As LangChain's middleware writes it. */
function asked(
  names: readonly string[],
  allowedDecisions: readonly string[] = ['approve', 'edit', 'reject'],
) {
  return {
    actionRequests: names.map((name) => ({ name, args: { to: name }, description: `Call ${name}` })),
    reviewConfigs: names.map((actionName) => ({ actionName, allowedDecisions })),
  };
}

describe('a gate as clients show it', () => {
  test('has both shapes of the field, and an id that names what it shows', () => {
    expect(gateInterrupt(CALL)).toEqual({
      id: 'S.aaaaaaaaaaaaaaaa',
      value: {
        action_requests: [
          { name: 'mail', args: { to: 'bob' }, description: expect.stringContaining('mail') },
        ],
        review_configs: [{ action_name: 'mail', allowed_decisions: ['approve', 'edit', 'reject'] }],
        action_request: { action: 'mail', args: { to: 'bob' } },
        config: { allow_accept: true, allow_edit: true, allow_respond: false, allow_ignore: true },
        description: expect.any(String),
      },
    });
  });

  test('keeps the value of an interrupt() as it is', () => {
    const value = { question: 'Which?', list: [1] };
    expect(gateInterrupt(gateOf({ kind: 'interrupt', artifact: value })).value).toBe(value);
  });

  test('has the names that front ends look for beside those of the middleware', () => {
    const value = asked(['mail', 'pay']);
    const reviews = value.reviewConfigs.map((review) => ({
      ...review,
      action_name: review.actionName,
      allowed_decisions: ['approve', 'edit', 'reject'],
    }));
    expect(gateInterrupt(gateOf({ kind: 'interrupt', artifact: value })).value).toEqual({
      ...{ actionRequests: value.actionRequests, action_requests: value.actionRequests },
      ...{ reviewConfigs: reviews, review_configs: reviews },
    });
    expect(
      gateInterrupt(gateOf({ kind: 'interrupt', artifact: asked(['mail'], ['approve']) })).value,
    ).toMatchObject({
      action_request: { action: 'mail', args: { to: 'mail' } },
      config: { allow_accept: true, allow_edit: false, allow_respond: false, allow_ignore: false },
      description: 'Call mail',
    });
  });

  test.each([
    { ...asked(['mail']), reviewConfigs: [] },
    { ...asked(['mail']), reviewConfigs: asked(['mail', 'pay']).reviewConfigs },
    { ...asked(['mail']), reviewConfigs: [{ actionName: 'pay', allowedDecisions: ['approve'] }] },
    asked(['mail'], ['approve', 'respond']), // of a newer middleware
    { actionRequests: [], reviewConfigs: [] },
    { actionRequests: [{ name: 'mail' }], reviewConfigs: [{ actionName: 'mail', allowedDecisions: [] }] },
    { actionRequests: 'mail', reviewConfigs: 'mail' },
    [asked(['mail'])],
  ])('keeps the value of a question that only looks like it: %#', (value) => {
    const gate = gateOf({ kind: 'interrupt', artifact: value });
    expect(gateInterrupt(gate).value).toBe(value);
    expect(resumeAnswer(gate, true)).toEqual({ value: true });
  });

  test('is found by its id while it shows the same, and refused when it shows something else', () => {
    expect(gateOfInterrupt('S.aaaaaaaaaaaaaaaa', [CALL])).toBe(CALL);
    const refusal = (id: string) => {
      try {
        gateOfInterrupt(id, [CALL]);
      } catch (error) {
        return (error as { code: string }).code;
      }
      return null;
    };
    expect(['S.bbbbbbbbbbbbbbbb', 'S.', 'S.aaaa', 'T.aaaaaaaaaaaaaaaa', 'S', ''].map(refusal)).toEqual([
      'GATE_STALE',
      'GATE_STALE',
      'GATE_STALE',
      'GATE_NOT_FOUND',
      'GATE_NOT_FOUND',
      'GATE_NOT_FOUND',
    ]);
  });
});

describe('what a client sends back', () => {
  const one = gateOf({ kind: 'interrupt', artifact: asked(['mail']) });
  const two = gateOf({ kind: 'interrupt', artifact: asked(['mail', 'pay']) });
  const edited = { name: 'mail', args: { to: 'eve' } };

  test.each([
    [one, { decisions: [{ type: 'approve' }] }, [{ type: 'approve' }]],
    [one, { decisions: [{ type: 'edit', edited_action: edited }] }, [{ type: 'edit', editedAction: edited }]],
    [one, { decisions: [{ type: 'edit', editedAction: edited }] }, [{ type: 'edit', editedAction: edited }]],
    [one, [{ type: 'accept', args: null }], [{ type: 'approve' }]],
    [one, [{ type: 'ignore', args: null }], [{ type: 'reject', message: 'Ignored.' }]],
    [one, { type: 'response', args: 'Not him.' }, [{ type: 'reject', message: 'Not him.' }]],
    [
      one,
      [{ type: 'edit', args: { action: 'mail', args: { to: 'eve' } } }],
      [{ type: 'edit', editedAction: edited }],
    ],
    [one, false, [{ type: 'reject' }]],
    [two, true, [{ type: 'approve' }, { type: 'approve' }]],
    [
      two,
      { decisions: [{ type: 'approve' }, { type: 'reject', message: 'No.' }] },
      [{ type: 'approve' }, { type: 'reject', message: 'No.' }],
    ],
  ])("is an answer of LangChain's middleware: %#", (gate, resume, decisions) => {
    expect(resumeAnswer(gate, resume)).toEqual({ value: { decisions } });
  });

  test('an edit in the text fields of a client has the types of what was shown', () => {
    const args = { amount: 5, isUrgent: false, to: { id: 1 }, list: [1], note: '5', gone: null };
    const typed = { ...args, amount: 7, isUrgent: true, to: { id: 2 }, list: [2], note: '"7"', other: '8' };
    const texts = { ...typed, amount: '7', isUrgent: 'true', to: '{"id":2}', list: '[2]' };
    const question = { ...asked(['pay']), actionRequests: [{ name: 'pay', args }] };
    const gate = gateOf({ kind: 'interrupt', artifact: question });
    const answer = (given: object, name: string) =>
      resumeAnswer(gate, { decisions: [{ type: 'edit', [name]: { name: 'pay', args: given } }] });
    const edit = (given: object) => ({
      value: { decisions: [{ type: 'edit', editedAction: { name: 'pay', args: given } }] },
    });
    expect(answer(texts, 'edited_action')).toEqual(edit(typed));
    expect(answer(texts, 'editedAction')).toEqual(edit(texts)); // of a program
    const other = { ...texts, amount: 'a lot', isUrgent: '1', to: '[2]', list: '{"id":2}' };
    expect(answer(other, 'edited_action')).toEqual(edit(other));
    const inbox = [{ type: 'edit', args: { action: 'pay', args: texts } }];
    expect(resumeAnswer(gate, inbox)).toEqual(edit(typed));
    const call = gateOf({ artifact: { tool: 'pay', args }, takes: { gate: 'tools', edit: 'args' } });
    expect(resumeAnswer(call, inbox)).toEqual({ edit: typed });
  });

  test.each([
    [one, 'publish nothing yet'],
    [two, [{ type: 'response', args: 'Not him.' }]],
    [two, [{ type: 'edit', args: { action: 'mail', args: { to: 'eve' } } }]],
    [one, null],
  ])('stays as it is where it is none, for `decide` to refuse: %#', (gate, resume) => {
    expect(resumeAnswer(gate, resume)).toEqual({ value: resume });
  });

  const valued = gateOf({ takes: { gate: 'price', value: true }, responseSchema: { type: 'integer' } });
  const failure = gateOf({ kind: 'task_failure' });
  const budget = gateOf({ kind: 'budget' });
  const breakpoint = gateOf({
    kind: 'interrupt',
    artifact: { breakpoint: { graph: '', when: 'before', nodes: ['a'], next: [] }, values: {} },
  });

  test.each([
    [CALL, { decisions: [{ type: 'approve' }] }, { approved: true }],
    [CALL, { decisions: [{ type: 'reject', message: 'No.' }] }, { approved: false, feedback: 'No.' }],
    [CALL, { decisions: [{ type: 'reject' }] }, { approved: false, feedback: 'Rejected.' }],
    [
      CALL,
      { decisions: [{ type: 'edit', edited_action: { name: 'mail', args: { to: 'eve' } } }] },
      { edit: { to: 'eve' } },
    ],
    [
      CALL,
      { decisions: [{ type: 'edit', editedAction: { name: 'mail', args: { to: 'eve' } } }] },
      { edit: { to: 'eve' } },
    ],
    [CALL, [{ type: 'accept', args: null }], { approved: true }],
    [CALL, { type: 'ignore', args: null }, { approved: false, feedback: 'Ignored.' }],
    [CALL, [{ type: 'response', args: 'Not him.' }], { approved: false, feedback: 'Not him.' }],
    [CALL, [{ type: 'edit', args: { action: 'mail', args: { to: 'eve' } } }], { edit: { to: 'eve' } }],
    [CALL, true, { approved: true }],
    [CALL, false, { approved: false, feedback: 'Rejected.' }],
    [CALL, { approved: true, by: ada, via: 'page', withHidden: 3 }, { approved: true }],
    [
      gateOf({ artifact: 'text', takes: { gate: 'publish', edit: 'artifact' } }),
      editOf({ artifact: 'new' }),
      { edit: 'new' },
    ],
    [
      gateOf({ takes: { gate: 'publish', edit: 'artifact' } }),
      editOf({ draft: 'new' }),
      { edit: { draft: 'new' } },
    ],
    [valued, [{ type: 'response', args: '7' }], { value: 7 }],
    [valued, { value: 7 }, { value: 7 }],
    [failure, [{ type: 'accept', args: null }], { action: 'retry' }],
    [failure, [{ type: 'response', args: 'skip' }], { action: 'skip' }],
    [
      failure,
      [{ type: 'response', args: 'Look at line 3.' }],
      { action: 'retry', guidance: 'Look at line 3.' },
    ],
    [failure, false, { action: 'abort', reason: 'Rejected.' }],
    [budget, editOf({ action: 'raise', calls: 9, by: ada }), { action: 'raise', calls: 9 }],
    [breakpoint, true, { value: true }],
    [breakpoint, { decisions: [{ type: 'reject' }] }, { value: false }],
    [gateOf({ kind: 'interrupt' }), 'any text', { value: 'any text' }],
    [gateOf({ kind: 'interrupt' }), null, { value: null }],
  ])('is the answer of its gate: %#', (gate, resume, answer) => {
    expect(resumeAnswer(gate, resume)).toEqual(answer);
  });

  test.each([
    'publish nothing yet',
    '',
    1,
    null,
    undefined,
    [],
    {},
    { messages: [{ role: 'user', content: 'yes' }] },
    [{ type: 'accept' }, { type: 'accept' }],
    { decisions: [] },
    { decisions: [{ type: 'approve' }, { type: 'approve' }] },
    { decisions: [{ type: 'edit' }] },
    [{ type: 'response', args: ' ' }],
    JSON.parse('{"__proto__":{"approved":true}}'),
    { type: 'human', content: 'yes' },
  ])('that is no answer is refused: %#', (resume) => {
    expect(() => resumeAnswer(CALL, resume)).toThrow(expect.objectContaining({ code: 'INVALID_ANSWER' }));
  });

  test('is the no of each gate but an interrupt()', () => {
    const refusals = [CALL, failure, breakpoint, gateOf({ kind: 'interrupt' })].map(gateRefusal);
    expect(refusals).toEqual([
      { approved: false, feedback: 'Ignored.' },
      { action: 'abort', reason: 'Ignored.' },
      { value: false },
      null,
    ]);
  });
});

function editOf(args: object): object {
  return { decisions: [{ type: 'edit', edited_action: { name: 'x', args } }] };
}

describe('an app', () => {
  const decided = (gate: Gate, resume: unknown): GateAnswer => {
    const answer = resumeAnswer(gate, resume);
    return { ...answer, by: ada, via: 'server' } as GateAnswer;
  };

  test('takes the answers, and the log says that they came by the server', async ({ db }) => {
    const gates = {
      publish: {
        show: ({ draft }: typeof State.State) => draft,
        edit: (_: unknown, draft: unknown) => ({ draft: String(draft) }),
      },
    };
    const app = durable(
      one(({ draft }) => ({ draft: `${draft}!` })),
      { db, gates },
    );
    const { gates: asked } = await app.run('run', { draft: 'Hello' });
    const { id } = gateInterrupt(asked[0] as Gate);
    const gate = gateOfInterrupt(id, await app.gates('run'));
    const session = await app.decide(gate, decided(gate, editOf({ artifact: 'Bye' })));
    expect(session).toMatchObject({ status: 'decided', via: 'server' });
    expect((await app.run('run')).values).toMatchObject({ draft: 'Bye!' });
  });

  test('takes a value, and gives an interrupt() what the client sent', async ({ db }) => {
    const priced = durable(
      one(() => ({})),
      {
        db,
        gates: {
          publish: {
            show: () => 'Price?',
            answer: z.int(),
            onAnswer: (_: unknown, price: number) => ({ price }),
          },
        },
      },
    );
    const { gates: asked } = await priced.run('priced', {});
    const gate = asked[0] as Gate;
    await priced.decide(gate, decided(gate, [{ type: 'response', args: '12' }]));
    expect((await priced.run('priced')).values).toMatchObject({ price: 12 });
    const bare = durable(
      one(() => ({ draft: JSON.stringify(interrupt('Which?')) })),
      { db },
    );
    const { gates: bareGates } = await bare.run('bare', {});
    const [question] = bareGates as readonly Gate[];
    await bare.decide(question as Gate, decided(question as Gate, { decisions: [{ type: 'approve' }] }));
    expect((await bare.run('bare')).values).toMatchObject({ draft: '{"decisions":[{"type":"approve"}]}' });
  });
});
