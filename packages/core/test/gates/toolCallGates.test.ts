import { AIMessage, HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Command, MessagesAnnotation, Send, START, StateGraph } from '@langchain/langgraph';
import { createReactAgent, ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { ada } from '../../src/engine/__tests__/ownGraph.ts';
import type { GatedToolCall } from '../../src/engine/gates/DeclaredGate.ts';
import type { GateAnswer } from '../../src/engine/gates/Gate.ts';
import { type Gate, perToolCall, step } from '../../src/langgraph.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';

type Sent = string[];

const mailTool = (sent: Sent) =>
  tool(async ({ to }: { to: string }) => step('mail', async () => `sent to ${sent.push(to) && to}`), {
    name: 'mail',
    description: 'Sends a mail.',
    schema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  });

const clock = tool(async () => 'noon', {
  name: 'clock',
  description: 'Tells the time.',
  schema: { type: 'object', properties: {} },
});

const call = (id: string, to: string) => ({ id, name: 'mail', args: { to }, type: 'tool_call' as const });
const time = { id: 'c0', name: 'clock', args: {}, type: 'tool_call' as const };

/** Asks for these calls once, and is done. */
class Scripted extends FakeListChatModel {
  readonly #calls: readonly GatedToolCall[];
  constructor(calls: readonly GatedToolCall[]) {
    super({ responses: [''] });
    this.#calls = calls;
  }
  override bindTools() {
    return this as never;
  }
  override async invoke(input: unknown) {
    const messages = input as readonly { getType(): string }[];
    const isDone = messages.some((message) => message.getType() === 'tool');
    const calls = isDone ? [] : this.#calls;
    return new AIMessage({ content: isDone ? 'Done.' : '', tool_calls: [...calls] as never }) as never;
  }
}

const GRAPHS = {
  'a graph of one’s own': (calls: readonly GatedToolCall[], sent: Sent) =>
    new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }) => ({ messages: [await new Scripted(calls).invoke(messages)] }))
      .addNode('tools', new ToolNode([mailTool(sent), clock]))
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', toolsCondition, ['tools', '__end__'])
      .addEdge('tools', 'agent'),
  'createReactAgent v1': (calls: readonly GatedToolCall[], sent: Sent) =>
    createReactAgent({ llm: new Scripted(calls), tools: [mailTool(sent), clock], version: 'v1' }),
  'createReactAgent v2': (calls: readonly GatedToolCall[], sent: Sent) =>
    createReactAgent({ llm: new Scripted(calls), tools: [mailTool(sent), clock], version: 'v2' }),
} as const;

const CALLS = [time, call('c1', 'ann'), call('c2', 'ben'), call('c3', 'cid')];

function mailing(
  db: Database,
  sent: Sent,
  kind: keyof typeof GRAPHS = 'a graph of one’s own',
  calls = CALLS as readonly GatedToolCall[],
) {
  const graph = GRAPHS[kind](calls, sent) as ReturnType<(typeof GRAPHS)['a graph of one’s own']>;
  return durable(graph, {
    db,
    gates: { tools: perToolCall(({ name, args }) => (name === 'mail' ? args : undefined)) },
  });
}

const INPUT = { messages: [new HumanMessage('Write to them.')] };
const about = (gates: readonly Gate[], to: string): Gate =>
  only(gates.filter(({ artifact }) => (artifact as { to: string }).to === to));
const results = (messages: readonly unknown[] = []) =>
  (messages as readonly ToolMessage[])
    .filter((message) => message.getType() === 'tool')
    .map(({ tool_call_id: id, status, content }) => [id, status ?? 'success', content]);

describe.for(Object.keys(GRAPHS) as (keyof typeof GRAPHS)[])('a gate per tool call in %s', (kind) => {
  test('asks for each side by side, and each answer counts for its own call', async ({ db }) => {
    const sent: Sent = [];
    const app = mailing(db, sent, kind);
    const { gates } = await app.run('run', INPUT);
    expect(gates.map(({ artifact }) => artifact)).toEqual([{ to: 'ann' }, { to: 'ben' }, { to: 'cid' }]);

    await app.decide(about(gates, 'cid'), { approved: true, by: ada });
    const left = await mailing(db, sent, kind).run('run');
    expect(left.gates.map(({ artifact }) => artifact)).toEqual([{ to: 'ann' }, { to: 'ben' }]);
    await app.decide(about(gates, 'ann'), { approved: false, feedback: 'Ann is away.', by: ada });
    await mailing(db, sent, kind).run('run');
    await app.decide(about(gates, 'ben'), { edit: { to: 'bob' }, by: ada });

    const { status, values } = await mailing(db, sent, kind).run('run');
    expect(status).toBe('completed');
    expect(results(values?.messages)).toEqual([
      ['c0', 'success', 'noon'],
      ['c1', 'error', 'Ann is away.'],
      ['c2', 'success', 'sent to bob'],
      ['c3', 'success', 'sent to cid'],
    ]);
    expect([...sent].sort()).toEqual(['bob', 'cid']);
  });

  test('runs nothing where all are refused, and asks nothing where none is to be shown', async ({ db }) => {
    const sent: Sent = [];
    const app = mailing(db, sent, kind, [call('c1', 'ann'), call('c2', 'ben')]);
    for (const gate of (await app.run('run', INPUT)).gates)
      await app.decide(gate, { approved: false, feedback: 'No.', by: ada });
    const { values } = await app.run('run');
    expect([results(values?.messages), sent]).toEqual([
      [
        ['c1', 'error', 'No.'],
        ['c2', 'error', 'No.'],
      ],
      [],
    ]);
    const easy = await mailing(db, sent, kind, [time]).run('easy', INPUT);
    expect([easy.status, easy.values?.messages.at(-1)?.content]).toEqual(['completed', 'Done.']);
  });
});

describe('a gate per tool call', () => {
  test('takes arguments that are an object, and refuses others before anything is written', async ({
    db,
  }) => {
    const app = mailing(db, [], undefined, [call('c1', 'ann')]);
    const gate = only((await app.run('run', INPUT)).gates);
    expect(gate.takes).toEqual({ gate: 'tools', edit: 'args' });
    for (const wrong of [
      { edit: 'bob' },
      { edit: ['bob'] },
      { edit: null },
      { value: 1 },
      { action: 'edit' },
    ])
      await expect(app.decide(gate, { ...wrong, by: ada } as GateAnswer)).rejects.toMatchObject({
        code: 'INVALID_ANSWER',
      });
    await expect(app.decide(gate, { approved: false, by: ada })).rejects.toMatchObject({
      code: 'FEEDBACK_REQUIRED',
    });
    expect(await app.gates('run')).toEqual([gate]);
    await app.decide(gate, { edit: { to: 7 }, by: ada });
    const [[, status]] = results((await app.run('run')).values?.messages) as [[string, string]];
    expect(status).toBe('error');
  });

  test('asks about one again that shows something else, and keeps the other’s answer', async ({ db }) => {
    const sent: Sent = [];
    const graph = () => GRAPHS['a graph of one’s own']([call('c1', 'ann'), call('c2', 'ben')], sent);
    const shows = (of: (call: GatedToolCall) => unknown) =>
      durable(graph(), { db, gates: { tools: perToolCall(of) } });
    const app = shows(({ args }) => args);
    for (const gate of (await app.run('run', INPUT)).gates)
      await app.decide(gate, { approved: true, by: ada });
    const today = shows(({ id, args }) => (id === 'c2' ? { ...args, cc: 'eve' } : args));
    const again = only((await today.run('run')).gates);
    expect([again.artifact, sent]).toEqual([{ to: 'ben', cc: 'eve' }, []]);
    await today.decide(again, { approved: true, by: ada });
    expect((await today.run('run')).status).toBe('completed');
    expect([...sent].sort()).toEqual(['ann', 'ben']);
  });

  test('stays asked where the program of today shows nothing, and a no counts', async ({ db }) => {
    const sent: Sent = [];
    const gate = only((await mailing(db, sent, undefined, [call('c1', 'ann')]).run('run', INPUT)).gates);
    const graph = GRAPHS['a graph of one’s own']([call('c1', 'ann')], sent);
    const today = durable(graph, { db, gates: { tools: perToolCall(() => undefined) } });
    expect((await today.run('run')).gates).toEqual([gate]);
    await today.decide(gate, { approved: false, feedback: 'No.', by: ada });
    expect([results((await today.run('run')).values?.messages), sent]).toEqual([
      [['c1', 'error', 'No.']],
      [],
    ]);
  });

  test('keeps commands of tools in their places', async ({ db }) => {
    const jump = tool(
      async (_: object, config) =>
        new Command({
          update: {
            messages: [{ role: 'tool', content: 'jumped', tool_call_id: config.toolCall?.id ?? 'c2' }],
          },
        }),
      { name: 'jump', description: 'Jumps.', schema: { type: 'object', properties: {} } },
    );
    const calls = [call('c1', 'ann'), { id: 'c2', name: 'jump', args: {}, type: 'tool_call' as const }];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', () => ({ messages: [new AIMessage({ id: 'ask', content: '', tool_calls: calls })] }))
      .addNode('tools', new ToolNode([mailTool([]), jump]))
      .addEdge(START, 'agent')
      .addEdge('agent', 'tools');
    const app = durable(graph, { db, gates: { tools: perToolCall() } });
    const [mail, jumping] = (await app.run('run', INPUT)).gates;
    expect(mail?.artifact).toEqual({ tool: 'mail', args: { to: 'ann' } });
    await app.decide(mail as Gate, { approved: false, feedback: 'No.', by: ada });
    await app.decide(jumping as Gate, { approved: true, by: ada });
    const { values } = await app.run('run');
    expect(values?.messages.slice(-2).map(({ content }) => content)).toEqual(['No.', 'jumped']);
  });

  test('asks one after the other where nobody drives the graph', async ({ db }) => {
    const sent: Sent = [];
    const { graph } = mailing(db, sent, undefined, [call('c1', 'ann')]);
    const config = { configurable: { thread_id: 'plain' } };
    const { __interrupt__: asked } = (await graph.invoke(INPUT, config)) as {
      __interrupt__?: readonly { value: { key: string } }[];
    };
    const key = only(asked ?? []).value.key;
    await graph.invoke(new Command({ resume: { for: key, value: { approved: true } } }), config);
    expect(sent).toEqual(['ann']);
  });

  test('may want several, who then say yes to the same', async ({ db }) => {
    const sent: Sent = [];
    const graph = GRAPHS['a graph of one’s own']([call('c1', 'ann')], sent);
    const app = durable(graph, {
      db,
      gates: { tools: perToolCall(({ args }) => args, { approvals: { of: ['ada', 'bob'], count: 2 } }) },
    });
    const gate = only((await app.run('run', INPUT)).gates);
    await expect(app.decide(gate, { edit: { to: 'bob' }, by: ada })).rejects.toMatchObject({
      code: 'INVALID_ANSWER',
    });
    await app.decide(gate, { approved: true, by: ada });
    await app.decide(gate, { approved: true, by: { kind: 'human', id: 'bob' } });
    await app.run('run');
    expect(sent).toEqual(['ann']);
  });

  test('of a call without an id, in a state that is a Send’s', async ({ db }) => {
    const sent: Sent = [];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', () => ({}))
      .addNode('tools', new ToolNode([mailTool(sent)]))
      .addEdge(START, 'agent')
      .addConditionalEdges(
        'agent',
        (state) => [
          new Send('tools', {
            ...state,
            lg_tool_call: { name: 'mail', args: { to: 'ann' }, type: 'tool_call' },
          }),
        ],
        ['tools'],
      );
    const app = durable(graph, { db, gates: { tools: perToolCall() } });
    await app.decide(only((await app.run('run', INPUT)).gates), { edit: { to: 'eve' }, by: ada });
    await app.run('run');
    expect(sent).toEqual(['eve']);
  });

  test('is declared with a function', () => {
    expect(() => perToolCall('mail' as never)).toThrow(TypeError);
  });
});
