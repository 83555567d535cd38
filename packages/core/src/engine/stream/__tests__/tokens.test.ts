import { HumanMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { listOf } from '../../../../test/support/listOf.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';
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

/** The letters put together again. */
function wordsOf(events: readonly StreamEvent[]): readonly string[] {
  const said = events.map((event) => (event.mode === 'messages' ? event.data : '')).join('');
  return said.match(/\S+ ?/g) ?? [];
}

describe('the words of a model', () => {
  test('come one by one, before the result of their step, and are not kept', async ({ dbPath }) => {
    const app = durable(asking(modelOf('The tea is ready')), { file: dbPath });
    const events = await listOf(app.stream('run', {}, TOKENS));
    expect(wordsOf(events)).toEqual(['The ', 'tea ', 'is ', 'ready']);
    const letters = [...'The tea is ready'].length;
    expect(events.map(({ mode }) => mode)).toEqual([...Array(letters).fill('messages'), 'updates', 'end']);
    expect(events[0]).toMatchObject({ ns: [], node: 'ask', step: 1, attempt: 1 });
    expect(await listOf(app.stream('run', null, TOKENS))).toEqual(events.slice(letters));
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
    expect(wordsOf(await listOf(app.stream('run', {}, { ...TOKENS, callbacks })))).toEqual(['Yes']);
    expect(heard.join('')).toBe('Yes');
    app.close();
  });

  test('are what the model said, letter for letter', async ({ dbPath }) => {
    const said = `Use ghp_${'a1B2c3D4e5'.repeat(4)} or password=hunter22 today`;
    const app = durable(asking(modelOf(said)), { file: dbPath });
    expect(wordsOf(await listOf(app.stream('run', {}, TOKENS))).join('')).toBe(said);
    app.close();
  });

  test('are made void by the next attempt', async ({ dbPath }) => {
    const model = modelOf('first words', 'second words');
    let tried = 0;
    const builder = new StateGraph(State)
      .addNode(
        'ask',
        async () => {
          tried += 1;
          const said = await ask(model);
          if (tried === 1) throw new Error('Not yet.');
          return { said };
        },
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false } },
      )
      .addEdge(START, 'ask')
      .addEdge('ask', END);
    const app = durable(builder, { file: dbPath });
    const events = await listOf(app.stream('run', {}, TOKENS));
    const restarted = events.findIndex(({ mode }) => mode === 'restarted');
    expect(wordsOf(events.slice(0, restarted))).toEqual(['first ', 'words']);
    expect(wordsOf(events.slice(restarted))).toEqual(['second ', 'words']);
    const attempts = events.map((event) => ('attempt' in event ? event.attempt : null));
    expect(new Set(attempts.slice(0, restarted))).toEqual(new Set([1]));
    expect(new Set(attempts.slice(restarted))).toEqual(new Set([2, null]));
    const [first] = events;
    expect(events[restarted]).toHaveProperty('task', (first as { task?: string }).task);
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
    const events = app.stream('run', {}, { ...TOKENS, signal: stop.signal });
    const first = await events.next();
    const heard = first.done ? [] : [first.value];
    while (!hasSpoken) await new Promise(setImmediate);
    stop.abort();
    while (internalsOf(app).store.threads.driverOf('run') !== null) await new Promise(setImmediate);
    const read = async () => {
      for await (const event of events) heard.push(event);
    };
    await expect(read()).rejects.toThrow('This operation was aborted');
    expect(wordsOf(heard)).toEqual(['one ', 'two ', 'three']);
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
    expect(wordsOf(events)).toEqual(['deep']);
    expect(events.find(({ mode }) => mode === 'messages')).toMatchObject({
      ns: [expect.stringMatching(/^inner:/)],
      node: 'inner',
    });
    app.close();
  });
});
