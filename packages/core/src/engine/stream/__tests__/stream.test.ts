import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { durable } from '../../durable.ts';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  topic: Annotation<string>(),
});

const builder = () =>
  new StateGraph(State)
    .addNode('first', async (_state, { writer }) => {
      writer?.({ at: 1 });
      writer?.({ at: 2 });
      return { log: ['first'] };
    })
    .addNode('second', async () => ({ log: ['second'] }))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', END);

describe('a stream', () => {
  test('is what was asked for', async () => {
    const app = durable(builder(), { file: ':memory:' });
    const events = [];
    for await (const event of app.stream('run', { topic: 'cats' }, { streamMode: ['updates', 'values', 'custom'] }))
      events.push(event);
    expect(events).toEqual([]);
  });
});
