import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { EphemeralValue } from '@langchain/langgraph/channels';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { interceptStatements } from '../../../../test/support/interceptStatements.ts';
import { ada } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import type { Gate } from '../../gates/Gate.ts';
import { interrupt } from '../../node/interrupt.ts';

const Log = Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right] });
const State = Annotation.Root({
  log: Log,
  tags: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => ['none'] }),
  title: Annotation<string>(),
  unset: Annotation<string>(),
});

const Passing = Annotation.Root({ log: Log, title: () => new EphemeralValue<string>() });

const asks = () => ({
  log: [interrupt<string, string>('first'), interrupt<string, string>('second')],
});

/** A node that asks twice, after one that writes. */
const asking = () =>
  new StateGraph(State)
    .addNode('begin', () => ({ log: ['begun'], title: 'a' }))
    .addNode('ask', asks)
    .addEdge(START, 'begin')
    .addEdge('begin', 'ask')
    .addEdge('ask', END);

const answer = { value: 'yes', by: ada } as const;

describe('the values of a run that waits once more', () => {
  const graphs = {
    'of channels that hold what they are given': asking,
    'with what a branch beside the question wrote': () =>
      new StateGraph(State)
        .addNode('ask', asks)
        .addNode('beside', () => ({ log: ['beside'], title: 'b' }))
        .addEdge(START, 'ask')
        .addEdge(START, 'beside')
        .addEdge('ask', END)
        .addEdge('beside', END),
    'of a channel that lasts for one super-step': () =>
      new StateGraph(Passing)
        .addNode('begin', () => ({ log: ['begun'], title: 'a' }))
        .addNode('ask', asks)
        .addEdge(START, 'begin')
        .addEdge('begin', 'ask')
        .addEdge('ask', END),
  };

  test.for(Object.entries(graphs))('are those that LangGraph says: %s', async ([_which, graph], { db }) => {
    const app = durable(graph() as ReturnType<typeof asking>, { db });
    const [gate] = (await app.run('run', {})).gates;
    await app.decide(gate as Gate, answer);
    const { status, values } = await app.run('run');
    expect(status).toBe('waiting');
    expect(values).toEqual(await app.values('run'));
  });

  test('are read without its tasks, and are the caller’s own', async ({ db }) => {
    const app = durable(asking(), { db });
    const [gate] = (await app.run('run', {})).gates;
    await app.decide(gate as Gate, answer);
    const getState = vi.spyOn(app.graph, 'getState');
    const { values } = await app.run('run');
    expect(getState).not.toHaveBeenCalled();
    expect(values).toEqual({ log: ['begun'], tags: ['none'], title: 'a' });
    values?.tags.push('changed');
    expect((await app.run('run')).values?.tags).toEqual(['none']);
  });
});

describe('the checkpoint of a run that waits', () => {
  /** Reads of several statements. */
  const readsOf = (db: Database): readonly string[] => {
    const reads: string[] = [];
    const note = (read: () => unknown, { source }: { readonly source: string }): unknown => {
      if (source === 'BEGIN DEFERRED') reads.push(source);
      return read();
    };
    interceptStatements(db, note, { controls: true });
    return reads;
  };

  test('is not read again by who drives it next in the same process', async ({ db }) => {
    const reads = readsOf(db);
    const app = durable(asking(), { db });
    const [gate] = (await app.run('run', {})).gates;
    await app.decide(gate as Gate, answer);
    const before = reads.length;
    expect((await app.run('run')).gates).toMatchObject([{ artifact: 'second' }]);
    expect(reads).toHaveLength(before);
  });

  test('is read again once this connection has written another', async ({ db }) => {
    const reads = readsOf(db);
    const app = durable(asking(), { db });
    const [gate] = (await app.run('run', {})).gates;
    await app.run('other', {});
    await app.decide(gate as Gate, answer);
    const before = reads.length;
    expect((await app.run('run')).gates).toMatchObject([{ artifact: 'second' }]);
    expect(reads.length).toBeGreaterThan(before);
  });

  test('is read again once another connection has written', async ({ db, dbPath }) => {
    const app = durable(asking(), { db });
    await app.run('run', {});
    const other = new BetterSqlite3(dbPath);
    other.exec("UPDATE checkpoint_writes SET value = x'22' WHERE channel = '__interrupt__'");
    other.close();
    await expect(app.run('run')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
  });
});
