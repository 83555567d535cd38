import { Command, END, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { ada, OwnState, says } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';

/** The third node throws; what handles that is an option of the node, or the default of the graph. */
function failing(kind: 'own' | 'default') {
  const handle = (_state: unknown, { node, error }: { readonly node: string; readonly error: Error }) =>
    new Command({ update: { log: [`${node}: ${error.message}`] }, goto: 'last' });
  const fails = () => {
    throw new Error('flaky');
  };
  const builder = new StateGraph(OwnState)
    .addNode('first', says('first'))
    .addNode('second', says('second'))
    .addNode('third', fails, { ...(kind === 'own' && { errorHandler: handle }), ends: ['last'] })
    .addNode('last', says('last'))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', 'third')
    .addEdge('last', END);
  return kind === 'own' ? builder : builder.setNodeDefaults({ errorHandler: handle });
}

describe('a handler of what a node throws', () => {
  test.for(['own', 'default'] as const)(
    'keeps the answer its node was given before: %s',
    async (kind, { db }) => {
      const app = durable(failing(kind), { db, guards: { maxDepth: 3 } });
      const waiting = await app.run('run', {});
      const gate = only(waiting.gates);
      expect(gate.kind).toBe('recursion_limit');
      await app.decide(gate, { action: 'continue', by: ada });
      const { status, values } = await app.run('run');
      expect([status, values?.log]).toEqual(['completed', ['first', 'second', 'third: flaky', 'last']]);
    },
  );

  test('of its own is told what LangGraph tells it', async ({ db }) => {
    const plain = await failing('own').compile().invoke({});
    const { status, values } = await durable(failing('own'), { db }).run('run', {});
    expect([status, values]).toEqual(['completed', plain]);
  });
});
