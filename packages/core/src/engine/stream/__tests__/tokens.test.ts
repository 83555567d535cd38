import { HumanMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { listOf } from '../../../../test/support/listOf.ts';
import { durable } from '../../durable.ts';
import { step } from '../../node/step.ts';
import { maskStream } from '../maskStream.ts';
import type { StreamEvent } from '../StreamEvent.ts';

const State = Annotation.Root({ said: Annotation<string>() });
const TOKENS = { streamMode: ['messages', 'updates'] } as const;

/** Says its answers one after the other, letter by letter. */
const modelOf = (...responses: readonly string[]) =>
  new FakeListChatModel({ responses: [...responses], sleep: 0 });

const ask = async (model: FakeListChatModel): Promise<string> =>
  (await model.invoke([new HumanMessage('Say it.')])).text;

const asking = (model: FakeListChatModel) =>
  new StateGraph(State)
    .addNode('ask', async () => ({ said: await step('llm', () => ask(model)) }))
    .addEdge(START, 'ask')
    .addEdge('ask', END);

const wordsOf = (events: readonly StreamEvent[]): readonly string[] =>
  events.flatMap((event) => (event.mode === 'messages' ? [event.data] : []));

describe('the words of a model', () => {
  test('come one by one, before the result of their step, and are not kept', async ({ dbPath }) => {
    const app = durable(asking(modelOf('The tea is ready')), { file: dbPath });
    const events = await listOf(app.stream('run', {}, TOKENS));
    expect(wordsOf(events)).toEqual([...'The tea is ready']);
    expect(events.map(({ mode }) => mode)).toEqual([...Array(16).fill('messages'), 'updates', 'end']);
    expect(events[0]).toMatchObject({ ns: [], node: 'ask', step: 1, attempt: 1 });
    expect(await listOf(app.stream('run', null, TOKENS))).toEqual(events.slice(16));
    app.close();
  });

  test('are not asked for where nobody wants them', async ({ dbPath }) => {
    const app = durable(asking(modelOf('quiet')), { file: dbPath });
    expect((await listOf(app.stream('run', {}))).map(({ mode }) => mode)).toEqual(['updates', 'end']);
    app.close();
  });

  test('are told to the caller’s handlers as well', async ({ dbPath }) => {
    const heard: string[] = [];
    const callbacks = [{ handleLLMNewToken: (token: string) => void heard.push(token) }];
    const app = durable(asking(modelOf('Yes')), { file: dbPath });
    expect(wordsOf(await listOf(app.stream('run', {}, { ...TOKENS, callbacks })))).toEqual(['Y', 'e', 's']);
    expect(heard.join('')).toBe('Yes');
    app.close();
  });

  test('are what it said; for people they are masked, however a secret is cut', async ({ dbPath }) => {
    const secret = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40);
    const said = `Use ${secret} or password=hunter22 today`;
    const app = durable(asking(modelOf(said, said)), { file: dbPath });
    expect(wordsOf(await listOf(app.stream('run', {}, TOKENS))).join('')).toBe(said);
    const shown = wordsOf(await listOf(maskStream(app.stream('shown', {}, TOKENS))));
    expect(shown.length).toBeGreaterThan(2);
    expect(shown.join('')).not.toMatch(/a1B2|hunter22/);
    expect(shown.join('')).toMatch(/^Use .* today$/);
    app.close();
  });

  test('are made void by the next attempt', async ({ dbPath }) => {
    const model = modelOf('first words', 'second words');
    let attempts = 0;
    const builder = new StateGraph(State)
      .addNode(
        'ask',
        async () => {
          attempts += 1;
          const said = await ask(model);
          if (attempts === 1) throw new Error('Not yet.');
          return { said };
        },
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false } },
      )
      .addEdge(START, 'ask')
      .addEdge('ask', END);
    const app = durable(builder, { file: dbPath });
    const events = await listOf(app.stream('run', {}, TOKENS));
    const told = events.map((event) =>
      event.mode === 'messages' || event.mode === 'restarted'
        ? [event.mode, event.attempt, event.mode === 'messages' ? event.data : null]
        : [event.mode],
    );
    expect(told).toEqual([
      ...[...'first words'].map((letter) => ['messages', 1, letter]),
      ['restarted', 2, null],
      ...[...'second words'].map((letter) => ['messages', 2, letter]),
      ['updates'],
      ['end'],
    ]);
    const [first, restarted] = [events[0], events.find(({ mode }) => mode === 'restarted')];
    expect(restarted).toHaveProperty('task', (first as { task?: string }).task);
    app.close();
  });

  test('that nobody had read when the drive was ended are read afterwards', async ({ dbPath }) => {
    const stop = new AbortController();
    let hasSpoken = false;
    const builder = new StateGraph(State)
      .addNode('ask', async (_state, { signal }) => {
        const said = await ask(modelOf('one two three'));
        hasSpoken = true;
        await new Promise((_, reject) => signal?.addEventListener('abort', reject));
        return { said };
      })
      .addEdge(START, 'ask')
      .addEdge('ask', END);
    const app = durable(builder, { file: dbPath });
    const events = app.stream('run', {}, { ...TOKENS, abort: stop.signal });
    const first = await events.next();
    while (!hasSpoken) await new Promise(setImmediate);
    stop.abort();
    while (app.store.threads.driverOf('run') !== null) await new Promise(setImmediate);
    const read = [...(first.done ? [] : [first.value]), ...(await listOf(events))];
    expect(wordsOf(read).join('')).toBe('one two three');
    app.close();
  });

  test('of graphs inside nodes are heard with subgraphs, and those of quiet models never', async ({
    dbPath,
  }) => {
    const inner = new StateGraph(State)
      .addNode('deep', async () => ({ said: await ask(modelOf('deep')) }))
      .addEdge(START, 'deep')
      .addEdge('deep', END)
      .compile();
    const quiet = modelOf('quiet').withConfig({ tags: ['nostream'] });
    const builder = new StateGraph(State)
      .addNode('inner', inner)
      .addNode('quiet', async () => ({ said: (await quiet.invoke('Say it.')).text }))
      .addEdge(START, 'inner')
      .addEdge('inner', 'quiet')
      .addEdge('quiet', END);
    const app = durable(builder, { file: dbPath });
    expect(wordsOf(await listOf(app.stream('without', {}, TOKENS)))).toEqual([]);
    const events = await listOf(app.stream('with', {}, { ...TOKENS, subgraphs: true }));
    expect(wordsOf(events).join('')).toBe('deep');
    expect(events.find(({ mode }) => mode === 'messages')).toMatchObject({
      ns: [expect.stringMatching(/^inner:/)],
      node: 'inner',
    });
    app.close();
  });
});
