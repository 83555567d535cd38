import { AIMessage, HumanMessage } from '@langchain/core/messages';
import {
  Annotation,
  Command,
  END,
  entrypoint,
  interrupt,
  MessagesAnnotation,
  Overwrite,
  Send,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { SqliteSaver } from '../SqliteSaver.ts';

// Whatever LangGraph puts into a checkpoint itself has to pass the strict serializer, and work after a restart.

const CONFIG = { configurable: { thread_id: 'run-1' }, durability: 'sync' as const };

const List = Annotation.Root({
  items: Annotation<unknown[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

/** The same graph over a new connection, as another process would have it. */
function restarted<Graph>(dbPath: string, compile: (saver: SqliteSaver) => Graph): Graph {
  return compile(new SqliteSaver(createDatabase({ dbPath })));
}

describe('what LangGraph stores', () => {
  test('messages keep their classes over a restart', async ({ dbPath }) => {
    const compile = (checkpointer: SqliteSaver) =>
      new StateGraph(MessagesAnnotation)
        .addNode('say', () => ({ messages: [new AIMessage('hello')] }))
        .addNode('ask', () => ({ messages: [new HumanMessage(String(interrupt('and?')))] }))
        .addEdge(START, 'say')
        .addEdge('say', 'ask')
        .compile({ checkpointer });
    await restarted(dbPath, compile).invoke({ messages: [new HumanMessage('hi')] }, CONFIG);
    const { messages } = await restarted(dbPath, compile).invoke(new Command({ resume: 'bye' }), CONFIG);
    expect(messages.map(({ content }) => content)).toEqual(['hi', 'hello', 'bye']);
    expect(messages.map((message) => message.constructor)).toEqual([HumanMessage, AIMessage, HumanMessage]);
  });

  test('sends with their arguments, parallel questions and overwrites', async ({ dbPath }) => {
    const compile = (checkpointer: SqliteSaver) =>
      new StateGraph(List)
        .addNode('worker', (input: { at?: Date; items?: unknown[] }) => ({
          items: [[input.at, interrupt({ day: input.at?.getUTCDate() })]],
        }))
        .addNode('replace', ({ items }) => ({ items: new Overwrite([items.length]) as unknown as unknown[] }))
        .addConditionalEdges(START, () =>
          [1, 2].map((day) => new Send('worker', { at: new Date(Date.UTC(2026, 0, day)) })),
        )
        .addEdge('worker', 'replace')
        .addEdge('replace', END)
        .compile({ checkpointer });
    await restarted(dbPath, compile).invoke({}, CONFIG);
    const graph = restarted(dbPath, compile);
    const { tasks } = await graph.getState(CONFIG);
    const questions = tasks.flatMap(({ interrupts }) => interrupts);
    expect(questions.map(({ value }) => value)).toEqual([{ day: 1 }, { day: 2 }]);
    const [one, two] = questions.map(({ id }) => id ?? '');
    await graph.invoke(new Command({ resume: { [one ?? '']: 'a' } }), CONFIG);
    const done = await restarted(dbPath, compile).invoke(
      new Command({ resume: { [two ?? '']: 'b' } }),
      CONFIG,
    );
    expect(done.items).toEqual([2]);
  });

  test('the error of a failed node, and the values of the nodes beside it', async ({ dbPath }) => {
    let failing = true;
    const compile = (checkpointer: SqliteSaver) =>
      new StateGraph(List)
        .addNode('good', () => ({ items: [new Map([['k', new Set([1])]])] }))
        .addNode('bad', () => {
          if (failing) throw new TypeError('not yet');
          return { items: [undefined] };
        })
        .addEdge(START, 'good')
        .addEdge(START, 'bad')
        .compile({ checkpointer });
    await expect(restarted(dbPath, compile).invoke({}, CONFIG)).rejects.toThrow('not yet');
    const graph = restarted(dbPath, compile);
    expect(
      (await graph.getState(CONFIG)).tasks.flatMap(({ error }) => (error === undefined ? [] : [error])),
    ).toContainEqual({ name: 'TypeError', message: 'not yet' });
    failing = false;
    const { items } = await graph.invoke(null, CONFIG);
    expect(items).toHaveLength(2);
    expect(items).toContainEqual(new Map([['k', new Set([1])]]));
  });

  test('the functional interface', async ({ dbPath }) => {
    const calls: number[] = [];
    const double = task('double', async (value: number) => {
      calls.push(value);
      return { value: value * 2, at: new Date(0) };
    });
    const compile = (checkpointer: SqliteSaver) =>
      entrypoint({ checkpointer, name: 'flow' }, async (input: number) => {
        const { value, at } = await double(input);
        return [value, at, interrupt('more?')] as const;
      });
    await restarted(dbPath, compile).invoke(4, CONFIG);
    const result = await restarted(dbPath, compile).invoke(new Command({ resume: 'yes' }), CONFIG);
    expect(result).toEqual([8, new Date(0), 'yes']);
    expect(calls).toEqual([4]);
  });
});
