import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  END,
  interrupt,
  MemorySaver,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../app/durable.ts';
import { runGraphIteratively } from '../../frames/flatIterativeAdapter.ts';
import { SqliteSaver } from '../SqliteSaver.ts';
import { withSettledTriggers } from '../storedCheckpoint.ts';

const State = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

/** `twice` is called by a branch and by an edge that waits for two nodes, both in one super-step. */
function calledTwice(last: () => void = () => {}) {
  return new StateGraph(State)
    .addNode('a', () => ({ log: ['a'] }))
    .addNode('b', () => ({ log: ['b'] }))
    .addNode('twice', () => ({ log: ['twice'] }))
    .addNode('last', () => {
      last();
      return { log: ['last'] };
    })
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addConditionalEdges('b', () => 'twice')
    .addEdge(['a', 'b'], 'twice')
    .addEdge('twice', 'last')
    .addEdge('last', END);
}

const ONCE = ['a', 'b', 'twice', 'last'];

describe('a node that two triggers call in one super-step runs once', () => {
  test('in LangGraph without an interruption', async () => {
    expect((await calledTwice().compile().invoke({})).log).toEqual(ONCE);
  });

  test('when the run goes on after a question', async ({ db }) => {
    const app = calledTwice(() => interrupt('?')).compile({ checkpointer: new SqliteSaver(db) });
    const config = { configurable: { thread_id: 't' }, durability: 'sync' } as const;
    await app.invoke({}, config);
    expect((await app.invoke(new Command({ resume: 'yes' }), config)).log).toEqual(ONCE);
  });

  test('when a durable run goes on after a gate', async ({ db }) => {
    const app = durable(calledTwice(), { db, gates: { last: ({ log }) => log } });
    const { gates } = await app.run('run', {});
    for (const gate of gates) await app.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
    expect((await app.run('run')).values?.log).toEqual(ONCE);
  });

  test.each(['the state file', 'another checkpointer'])('in the flat adapter over %s', async (store) => {
    const open = { 'another checkpointer': () => new MemorySaver() as BaseCheckpointSaver }[store];
    const options = open === undefined ? {} : { checkpointer: open() };
    expect((await runGraphIteratively(calledTwice().compile(), {}, options)).log).toEqual(ONCE);
  });
});

test('an update from outside still counts as one of the node that ran last', async ({ db }) => {
  const graph = new StateGraph(State)
    .addNode('first', () => ({ log: ['first'] }))
    .addNode('second', () => ({ log: ['second'] }))
    .addNode('ask', () => ({ log: [String(interrupt('ok?'))] }))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer: new SqliteSaver(db) });
  const thread = { configurable: { thread_id: 'run' } };
  await graph.invoke({}, thread);
  await graph.updateState(thread, { log: ['from outside'] });
  expect((await graph.getState(thread)).next).toEqual(['ask']);
});

describe('withSettledTriggers', () => {
  const checkpoint = {
    v: 4,
    id: 'c',
    ts: '',
    channel_values: { 'branch:to:n': null, 'join:a+b:n': ['a', 'b'], 'join:a+c:n': ['a'], 'join:b+d:n': [] },
    channel_versions: {
      log: 3,
      'branch:to:n': 1,
      'join:a+b:n': 2,
      'join:a+c:n': 1,
      'join:b+d:n': 2,
      'branch:to:gone': 2,
      'branch:to:next': 3,
    },
    versions_seen: { n: { 'branch:to:n': 1 } },
  };
  const step = { source: 'loop', step: 1, parents: {} } as const;

  test('marks what a super-step did not write and what calls a node, and leaves the rest', () => {
    const { versions_seen } = withSettledTriggers(checkpoint, step, { log: 3, 'branch:to:next': 3 });
    expect(versions_seen).toEqual({ n: { 'branch:to:n': 1, 'join:a+b:n': 2 } });
    expect(checkpoint.versions_seen).toEqual({ n: { 'branch:to:n': 1 } });
  });

  test('marks an edge that also waits for the end of the graph', () => {
    const deferred = { ...checkpoint, channel_values: { 'join:a+b:n': [['a', 'b'], true] } };
    expect(withSettledTriggers(deferred, step, {}).versions_seen['n']).toHaveProperty('join:a+b:n', 2);
  });

  test.each(['input', 'update', 'fork'] as const)('changes no checkpoint of kind %s', (source) => {
    expect(withSettledTriggers(checkpoint, { ...step, source }, {})).toBe(checkpoint);
  });
});
