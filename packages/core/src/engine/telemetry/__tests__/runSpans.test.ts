import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { EventBus } from '../../../events/events.ts';
import { StateFile } from '../../../state/StateFile.ts';
import { spanIdOf, traceIdOf } from '../../../state/steps/spanIds.ts';
import { durable } from '../../app/durable.ts';
import { step } from '../../node/step.ts';
import { child } from '../../node/waitFor.ts';
import type { RunSpan } from '../RunSpan.ts';
import { spansOf } from '../runSpans.ts';

const ADA = { kind: 'human', id: 'ada' } as const;
const DAY_MS = 86_400_000;

const Post = Annotation.Root({ text: Annotation<string> });

/** A model, a tool, and a gate before what follows. */
const posts = () =>
  new StateGraph(Post)
    .addNode('write', async () => {
      const text = await step('draft', ({ usage }) => {
        usage({ tokensIn: 100, tokensOut: 20, costUsd: 0.01 });
        return 'green tea';
      });
      await step('search call_7f', () => 'found');
      return { text };
    })
    .addNode('publish', async ({ text }) => ({ text: await step('send mail', () => `${text}, sent`) }))
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END);

const fileOf = (db: ConstructorParameters<typeof StateFile>[0]) =>
  new StateFile(db, { events: new EventBus() });

const named = (spans: readonly RunSpan[], name: string): RunSpan =>
  only(spans.filter((span) => span.name === name));

/** The names on the way from a span to the root. */
function wayUp(span: RunSpan, spans: readonly RunSpan[]): readonly string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentId);
  return [span.name, ...(parent === undefined ? [] : wayUp(parent, spans))];
}

describe('spans of a run', () => {
  test('are a tree of run, turn, node, step and gate, from what is recorded', async ({ db }) => {
    let at = Date.now();
    const app = durable(posts(), {
      db,
      name: 'posts',
      gates: { publish: ({ text }) => text },
      now: () => at,
    });
    const { gates } = await app.run('post-1', { text: '' });
    at += 9 * DAY_MS;
    await app.decide(only(gates), { approved: true, feedback: 'Fine.', by: ADA });
    await app.run('post-1');
    const spans = spansOf('post-1', fileOf(db));
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    expect(spans.every(({ traceId }) => traceId === traceIdOf('post-1'))).toBe(true);
    expect(spans.filter(({ isOpen }) => isOpen)).toEqual([]);
    expect(wayUp(named(spans, 'chat'), spans)).toEqual([
      ...['chat', 'node write', 'invoke_agent posts', 'invoke_workflow posts'],
    ]);
    expect(wayUp(named(spans, 'execute_tool search'), spans)[1]).toBe('node write');
    expect(wayUp(named(spans, 'step send mail'), spans)[1]).toBe('node publish');
    expect(named(spans, 'chat')).toMatchObject({
      kind: 'client',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.output_tokens': 20,
        'devs.cost.usd': 0.01,
        'devs.step': 'draft',
      },
    });
    expect(named(spans, 'execute_tool search').attributes).toMatchObject({
      'gen_ai.tool.name': 'search',
      'gen_ai.tool.call.id': 'call_7f',
    });
    const gate = named(spans, 'gate node_gate');
    expect(gate.attributes).toMatchObject({
      'devs.gate.days': 9,
      'devs.gate.decider': 'human:ada',
      'devs.gate.decision': 'approved',
    });
    expect(gate.endedAt - gate.startedAt).toBe(9 * DAY_MS);
    expect(wayUp(gate, spans)[1]).toBe('invoke_agent posts');
    expect(named(spans, 'invoke_workflow posts')).toMatchObject({
      parentId: null,
      spanId: spanIdOf('post-1'),
      attributes: { 'devs.outcome': 'completed', 'gen_ai.workflow.name': 'posts' },
    });
  });

  test('that go on are open, and have the same ids when they have ended', async ({ db }) => {
    const app = durable(posts(), { db, gates: { publish: ({ text }) => text } });
    const { gates } = await app.run('post-1', { text: '' });
    const before = spansOf('post-1', fileOf(db));
    expect(before.filter(({ isOpen }) => isOpen).map(({ name }) => name)).toEqual([
      ...['gate node_gate', 'invoke_agent', 'invoke_workflow'],
    ]);
    await app.decide(only(gates), { approved: true, by: ADA });
    await app.run('post-1');
    const after = new Map(spansOf('post-1', fileOf(db)).map((span) => [span.spanId, span]));
    for (const span of before) {
      expect(after.get(span.spanId)).toMatchObject({
        name: span.name,
        parentId: span.parentId,
        isOpen: false,
      });
      if (!span.isOpen) expect(after.get(span.spanId)).toEqual(span);
    }
  });

  test('keep the steps of branches of one node apart', async ({ db }) => {
    const Parts = Annotation.Root({
      parts: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const graph = new StateGraph(Parts)
      .addNode('part', async (state: { readonly parts: readonly string[] }) => {
        const [name = ''] = state.parts;
        await step(`call ${name}`, () => name);
        return { parts: [name] };
      })
      .addConditionalEdges(START, () => ['a', 'b', 'c'].map((name) => new Send('part', { parts: [name] })));
    await durable(graph, { db }).run('fan', { parts: [] });
    const spans = spansOf('fan', fileOf(db));
    const parents = ['a', 'b', 'c'].map((name) => named(spans, `step call ${name}`).parentId);
    expect(new Set(parents).size).toBe(3);
    expect(spans.filter(({ name }) => name === 'node part')).toHaveLength(3);
  });

  test('have retries as events, errors as a status, and messages with content only', async ({ db }) => {
    let attempts = 0;
    const graph = new StateGraph(Post)
      .addNode(
        'flaky',
        () => {
          attempts += 1;
          throw new TypeError(attempts === 1 ? 'a private word' : 'another private word');
        },
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false, retryOn: () => true } },
      )
      .addEdge(START, 'flaky');
    await durable(graph, { db }).run('post-1', { text: '' }, { throwOnFailure: false });
    const spans = spansOf('post-1', fileOf(db));
    const node = named(spans, 'node flaky');
    expect(node).toMatchObject({ error: 'the node failed', attributes: { 'devs.attempt': 2 } });
    expect(node.events.map(({ name }) => name)).toEqual(['devs.retry']);
    expect(named(spans, 'invoke_workflow').error).toBe('failed');
    expect(JSON.stringify(spans)).not.toContain('private');
    const withContent = spansOf('post-1', fileOf(db), { content: true });
    expect(named(withContent, 'node flaky').error).toContain('another private word');
  });

  test('of a child run and its parent link to each other', async ({ db }) => {
    const part = durable(
      new StateGraph(Post).addNode('work', () => ({ text: 'part' })).addEdge(START, 'work'),
      {
        ...{ db, name: 'part' },
      },
    );
    const graph = new StateGraph(Post)
      .addNode('begin', async () => {
        await child(part, 'whole/part', { text: '' });
        return { text: 'whole' };
      })
      .addEdge(START, 'begin');
    await durable(graph, { db, name: 'whole' }).run('whole', { text: '' });
    const file = fileOf(db);
    const links = (id: string) =>
      named(spansOf(id, file), `invoke_workflow ${id === 'whole' ? 'whole' : 'part'}`).links;
    expect(links('whole')).toEqual([{ traceId: traceIdOf('whole/part'), spanId: spanIdOf('whole/part') }]);
    expect(links('whole/part')).toEqual([{ traceId: traceIdOf('whole'), spanId: spanIdOf('whole') }]);
  });

  test('of a chat have a turn each', async ({ db }) => {
    const app = durable(posts(), { db, name: 'posts' });
    await app.run('chat', { text: '' }, { turn: 'm-1' });
    const first = spansOf('chat', fileOf(db));
    await app.run('chat', { text: '' }, { turn: 'm-2' });
    const spans = spansOf('chat', fileOf(db));
    const turns = spans.filter(({ name }) => name === 'invoke_agent posts');
    expect(turns.map(({ attributes }) => attributes['devs.turn'])).toEqual(['m-1', 'm-2']);
    expect(spans.filter(({ name }) => name === 'chat').map(({ parentId }) => parentId)).toHaveLength(2);
    for (const turn of turns)
      expect(spans.filter(({ parentId }) => parentId === turn.spanId).map(({ name }) => name)).toEqual([
        ...['node write', 'node publish'],
      ]);
    for (const span of first.filter(({ parentId }) => parentId !== null)) expect(spans).toContainEqual(span);
  });

  test('are read from logs of older runs, which have no ids of executions', async ({ db }) => {
    const app = durable(posts(), { db, name: 'posts' });
    await app.run('post-1', { text: '' });
    db.exec("UPDATE events SET payload_json = json_remove(payload_json, '$.visit')");
    const spans = spansOf('post-1', fileOf(db));
    expect(spans.map(({ name }) => name)).toEqual([
      ...['chat', 'execute_tool search', 'step send mail', 'node write', 'node publish'],
      ...['invoke_agent posts', 'invoke_workflow posts'],
    ]);
    expect(wayUp(named(spans, 'step send mail'), spans)[1]).toBe('node publish');
  });

  test('of an unknown run are refused', ({ db }) => {
    expect(() => spansOf('nobody', fileOf(db))).toThrow(/nobody/);
  });
});

describe('traceparent', () => {
  test('names the span of the call, the same for each attempt, and is no part of the key', async ({ db }) => {
    const given: { readonly key: string; readonly traceparent: string }[] = [];
    const graph = new StateGraph(Post)
      .addNode(
        'call',
        async () => ({
          text: await step('pay', ({ key, traceparent, attempt }) => {
            given.push({ key, traceparent });
            if (attempt === 1) throw new TypeError('again');
            return 'paid';
          }),
        }),
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false, retryOn: () => true } },
      )
      .addEdge(START, 'call');
    await durable(graph, { db }).run('order', { text: '' });
    const span = named(spansOf('order', fileOf(db)), 'step pay');
    expect(given).toHaveLength(2);
    expect(given[0]).toEqual(given[1]);
    expect(given[0]?.traceparent).toBe(`00-${span.traceId}-${span.spanId}-01`);
    expect(given[0]?.key).not.toContain(span.traceId);
    expect(span.error).toBeNull();
  });
});
