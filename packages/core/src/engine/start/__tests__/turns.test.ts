import { HumanMessage } from '@langchain/core/messages';
import {
  Annotation,
  interrupt,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { EventStore } from '../../../state/events/EventStore.ts';
import { ada, type Own, OwnState, says, twoBranches, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { endCancelled } from '../../drive/signals.ts';
import { internalsOf } from '../../file/appInternals.ts';
import type { RunOptions } from '../../file/RunOptions.ts';
import type { GateOf } from '../../gates/DeclaredGate.ts';
import { sleep } from '../../node/waitFor.ts';

const turn = (key: string): RunOptions => ({ turn: key });

/** A graph that says how often it was called, and with how many messages. */
function chat() {
  let calls = 0;
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('answer', ({ messages }) => {
      calls += 1;
      return { messages: [{ role: 'assistant', content: `heard ${messages.length}` }] };
    })
    .addEdge(START, 'answer');
  return { graph, calls: () => calls };
}

const said = (values: { messages: { text: string }[] } | null | undefined) =>
  values?.messages.map(({ text }) => text);

/** Rows of every table that a run writes to. */
function rowsIn(db: Database): number {
  const counts = [
    'threads',
    'thread_inputs',
    'checkpoints',
    'checkpoint_writes',
    'events',
    'agent_steps',
  ].map((table) => db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0);
  return counts.reduce((sum, n) => sum + n, 0);
}

describe('a turn', () => {
  test('of a new key goes to the state of the one before, as a second invoke of LangGraph', async ({
    db,
  }) => {
    const app = durable(chat().graph, { db });
    const plain = chat().graph.compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: 'chat' } };
    for (const [index, text] of ['one', 'two', 'three'].entries()) {
      const input = { messages: [new HumanMessage(text)] };
      const result = await app.run('chat', input, turn(`m-${index}`));
      const expected = await plain.invoke(input, config);
      expect(result).toMatchObject({ status: 'completed', turn: `m-${index}` });
      expect(said(result.values)).toEqual(said(expected));
    }
  });

  test('of a known key is that turn, in any process, and nothing is executed again', async ({
    db,
    dbPath,
  }) => {
    const { graph, calls } = chat();
    const app = durable(graph, { db });
    await app.run('chat', { messages: [new HumanMessage('one')] }, turn('m-1'));
    await app.run('chat', { messages: [new HumanMessage('two')] }, turn('m-2'));
    const before = rowsIn(db);

    const otherDb = createDatabase({ dbPath });
    const other = durable(graph, { db: otherDb });
    const first = await other.run('chat', { messages: [new HumanMessage('one')] }, turn('m-1'));
    expect(first).toMatchObject({ status: 'completed', reason: null, gates: [], turn: 'm-1' });
    expect(said(first.values)).toEqual(['one', 'heard 1']);
    const second = await other.run('chat', undefined, turn('m-2'));
    expect(said(second.values)).toEqual(['one', 'heard 1', 'two', 'heard 3']);
    expect(await other.run('chat')).toEqual(second);
    otherDb.close();
    expect(calls()).toBe(2);
    expect(rowsIn(db)).toBe(before);
  });

  test('is refused with another input, and where it cannot begin; nothing is written', async ({ db }) => {
    const app = durable(twoSteps(), { db, gates: { second: () => 'go on?' } });
    const { gates } = await app.run('run', { log: ['a'] }, turn('m-1'));
    const before = rowsIn(db);
    const notTaken = (message: string) => ({
      code: 'INPUT_NOT_TAKEN',
      message: expect.stringContaining(message),
    });
    await expect(app.run('run', { log: ['b'] }, turn('m-1'))).rejects.toMatchObject(
      notTaken('different input'),
    );
    await expect(app.run('run', { log: ['a'] }, turn('m-2'))).rejects.toMatchObject(
      notTaken('the previous turn waits'),
    );
    await expect(app.run('run', { log: ['a'] })).rejects.toMatchObject(notTaken('has no turn key'));
    await expect(app.run('run', { log: ['a'] }, { ...turn('m-1'), tags: ['x'] })).rejects.toMatchObject(
      notTaken('different tags'),
    );
    await expect(app.run('run', undefined, turn('m-2'))).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(app.run('nobody', undefined, turn('m-2'))).rejects.toMatchObject({
      code: 'THREAD_NOT_FOUND',
    });
    await expect(app.run('nobody', null as never, turn('m-2'))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    for (const key of ['', 7, null, '\ud800', Symbol('x')]) {
      await expect(app.run('run', { log: ['a'] }, turn(key as string))).rejects.toThrow(TypeError);
    }
    await expect(app.run('run', { log: ['a'] }, turn('x'.repeat(1001)))).rejects.toThrow(RangeError);
    expect(rowsIn(db)).toBe(before);

    await app.decide(only(gates), { approved: true, by: ada });
    expect(await app.run('run', { log: ['a'] }, turn('m-1'))).toMatchObject({
      status: 'completed',
      turn: 'm-1',
    });
    const { values } = await app.run('run', { log: ['b'] }, turn('m-2'));
    expect(values?.log).toEqual(['a', 'first', 'second', 'b', 'first']);
  });

  test('has the options that it is given with', async ({ db }) => {
    const heard: unknown[] = [];
    const graph = new StateGraph(OwnState)
      .addNode('tell', (_state, { configurable, tags, metadata, context }: LangGraphRunnableConfig) => {
        heard.push([Object(configurable).region, tags, metadata?.['from'], context]);
        return {};
      })
      .addEdge(START, 'tell');
    const app = durable(graph, { db });
    await app.run(
      'run',
      {},
      { ...turn('1'), configurable: { region: 'eu' }, tags: ['t'], metadata: { from: 'x' } },
    );
    await app.run('run', {}, { ...turn('2'), configurable: { region: 'us' } });
    await app.run('run', {}, turn('3'));
    expect(heard.map((each) => (each as unknown[])[0])).toEqual(['eu', 'us', undefined]);
    expect(heard[2]).toEqual([undefined, expect.not.arrayContaining(['t']), undefined, undefined]);
  });

  test('is known by its very key: two that differ in what looks like a secret are two', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    const [one, other] = ['a1B2', 'c3D4'].map((part) => turn(`m-ghp_${part.repeat(9)}`)) as [object, object];
    await app.run('run', { log: ['a'] }, one);
    await app.run('run', { log: ['b'] }, other);
    const { values } = await app.run('run', { log: ['a'] }, one);
    expect(values?.log).toEqual(['a', 'first', 'second']);
  });

  test('is told without its values once they were pruned away', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    for (const key of ['1', '2', '3']) await app.run('run', { log: [key] }, turn(key));
    await app.prune('run', { keepLast: 1 });
    expect(await app.run('run', undefined, turn('2'))).toMatchObject({ status: 'completed', values: null });
    expect((await app.run('run', undefined, turn('3'))).values?.log).toHaveLength(9);
    expect((await app.run('run', { log: ['4'] }, turn('4'))).values?.log).toHaveLength(12);
  });

  test('is given also under the run_id of the one before, by which LangGraph might go on with that', async ({
    db,
  }) => {
    const app = durable(twoSteps(), { db });
    const options = { metadata: { run_id: 'same' } };
    await app.run('run', { log: ['a'] }, { ...turn('1'), ...options });
    const { status, values } = await app.run('run', { log: ['b'] }, { ...turn('2'), ...options });
    expect(status).toBe('completed');
    expect(values?.log).toEqual(['a', 'first', 'second', 'b', 'first', 'second']);
  });

  test('follows a run that was started without one', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    const first = await app.run('run', { log: ['a'] });
    expect(first).not.toHaveProperty('turn');
    await app.run('run', { log: ['b'] }, turn('2'));
    expect(await app.run('run')).toMatchObject({ turn: '2' });
    expect(await app.run('run', { log: ['a'] })).toEqual(first);
    await expect(app.run('run', { log: ['b'] })).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
  });

  test('has gates of its own: what was asked before it is withdrawn, and answers nothing', async ({ db }) => {
    const app = durable(twoSteps(), { db, gates: { second: () => 'the same' } });
    const [one] = (await app.run('run', { log: ['a'] }, turn('1'))).gates;
    await app.cancel('run');
    const [two] = (await app.run('run', { log: ['a'] }, turn('2'))).gates;
    expect(two).toMatchObject({ artifactHash: one?.artifactHash });
    expect(two?.sessionId).not.toBe(one?.sessionId);
    await expect(app.decide(one as never, { approved: true, by: ada })).rejects.toMatchObject({
      code: 'GATE_STALE',
    });
    expect(await app.run('run')).toMatchObject({ status: 'waiting', turn: '2' });
    await app.decide(two as never, { approved: true, by: ada });
    const { status, values } = await app.run('run');
    expect({ status, log: values?.log }).toEqual({
      status: 'completed',
      log: ['a', 'first', 'a', 'first', 'second'],
    });
  });

  test('does not take an answer that the one before got and did not take up', async ({ db }) => {
    const graph = new StateGraph(OwnState)
      .addNode('ask', () => ({ answer: interrupt<string, string>('what?') }))
      .addEdge(START, 'ask');
    const app = durable(graph, { db });
    const { gates } = await app.run('run', {}, turn('1'));
    await app.decide(only(gates), { value: 'first', by: ada });
    await app.cancel('run');
    const second = await app.run('run', {}, turn('2'));
    expect(second).toMatchObject({ status: 'waiting', turn: '2' });
    await app.decide(only(second.gates), { value: 'second', by: ada });
    expect((await app.run('run')).values?.answer).toBe('second');
  });

  test('begins on any later graph, and not on an earlier one that lacks a channel', async ({ db }) => {
    await durable(twoSteps(), { db }).run('run', { log: ['a'] }, turn('1'));
    const grown = twoSteps().addNode('third', says('third')).addEdge('second', 'third');
    const { values } = await durable(grown, { db, version: '2' }).run('run', { log: ['b'] }, turn('2'));
    expect(values?.log).toEqual(['a', 'first', 'second', 'b', 'first', 'second', 'third']);
    const { answer: _, ...less } = OwnState.spec;
    const shrunk = new StateGraph(less as never)
      .addNode('first', says('x') as never)
      .addEdge(START, 'first' as never);
    const shorter = durable(shrunk as never, { db });
    await shorter.run('other', {} as never);
    await durable(grown, { db }).run('run', { log: ['c'] }, turn('3'));
    await expect(shorter.run('run', {} as never, turn('4'))).rejects.toMatchObject({
      code: 'GRAPH_CHANGED',
      message: expect.stringContaining('channel "answer" is gone'),
    });
    const { answer: __, ...later } = { ...OwnState.spec, extra: Annotation<string>() };
    const newest = new StateGraph(later as never)
      .addNode('first', says('y') as never)
      .addEdge(START, 'first' as never);
    const taken = await durable(newest as never, { db }).run('run', {} as never, turn('4'));
    expect(taken.status).toBe('completed');
  });
});

describe('a turn on a graph that has other gates', () => {
  const asked: GateOf<Own> = {
    show: () => 'go?',
    approvals: { of: ['ada', 'bob'], count: 2 },
    deadlines: { within: 1_000, do: 'remind' },
  };

  test('holds those to what they are declared with, and the ones it had to what the run was started with', async ({
    db,
  }) => {
    const now = () => 5_000;
    const program = (gates: Readonly<Record<string, GateOf<Own>>>) => durable(twoSteps(), { db, now, gates });
    const before = program({ first: { show: () => 'begin?', deadlines: { within: 9, do: 'remind' } } });
    const begun = only((await before.run('run', {}, turn('1'))).gates);
    await before.decide(begun, { approved: true, by: ada });
    expect((await before.run('run')).status).toBe('completed');
    const app = program({ first: asked, second: asked });
    const first = only((await app.run('run', {}, turn('2'))).gates);
    expect(first).toMatchObject({ dueAt: new Date(5_009).toISOString(), takes: { gate: 'first' } });
    expect(first.takes).not.toHaveProperty('approvals');
    await app.decide(first, { approved: true, by: ada });
    expect(only((await app.run('run')).gates)).toMatchObject({
      dueAt: new Date(6_000).toISOString(),
      takes: { gate: 'second', approvals: { of: ['ada', 'bob'], count: 2 } },
    });
  });

  test('forgets what was declared for one that is gone', async ({ db }) => {
    const gated = durable(twoSteps(), { db, gates: { first: asked } });
    const gate = only((await gated.run('run', {}, turn('1'))).gates);
    await gated.decide(gate, { approved: false, feedback: 'not now', by: ada });
    expect((await gated.run('run')).status).toBe('cancelled');
    const app = durable(twoSteps(), { db });
    const policies = () => internalsOf(app).store.threads.require('run').policies;
    expect(policies()).toMatchObject({
      approvals: { first: { of: ['ada', 'bob'], count: 2 } },
      deadlines: { first: [{}] },
    });
    expect((await app.run('run', {}, turn('2'))).status).toBe('completed');
    expect(policies()).not.toHaveProperty('approvals');
    expect(policies()).not.toHaveProperty('deadlines');
  });
});

/** Says what its channel of one name holds. */
function echo(channel: 'text' | 'words') {
  const State = Annotation.Root({ text: Annotation<string>(), words: Annotation<string>() });
  return new StateGraph({ [channel]: State.spec[channel] } as typeof State.spec)
    .addNode('echo', (state) => ({ [channel]: `${state[channel]}!` }))
    .addEdge(START, 'echo');
}

describe('a turn whose graph has changed before it was taken up', () => {
  test('goes on once that was accepted, with its input under the new names', async ({ db }) => {
    const before = durable(echo('text'), { db });
    await before.run('run', { text: 'a' }, turn('1'));
    await before.run('run', { text: 'b' }, { ...turn('2'), drain: AbortSignal.abort() });
    const after = durable(echo('words'), { db });
    await expect(after.run('run')).rejects.toMatchObject({ code: 'GRAPH_CHANGED' });
    await after.acceptGraph('run', { by: ada, renamed: { channels: { text: 'words' } } });
    expect(await after.run('run')).toMatchObject({ status: 'completed', turn: '2', values: { words: 'b!' } });
  });
});

test('a new turn finds the channels of the one before under the names that its graph declares', async ({
  db,
}) => {
  const State = (name: string) =>
    Annotation.Root({ [name]: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }) });
  const chat = (name: string) =>
    new StateGraph(State(name)).addNode('reply', () => ({ [name]: ['hi'] })).addEdge(START, 'reply');
  await durable(chat('text'), { db }).run('run', { text: ['a'] }, turn('1'));
  const graphChanges = { renamed: { channels: { text: 'words' } } };
  const after = durable(chat('words'), { db, graphChanges });
  const { values } = await after.run('run', { words: ['b'] }, turn('2'));
  expect(values).toEqual({ words: ['a', 'hi', 'b', 'hi'] });
});

describe('a turn that did not complete', () => {
  test('of a failed run is tried anew under its key, until the next one discards it', async ({ db }) => {
    let fails = true;
    const graph = () =>
      twoSteps(says('first'), async ({ log }) => {
        if (fails) throw new Error(`no ${log.length}`);
        return { log: ['second'] };
      });
    const app = durable(graph(), { db });
    expect(await app.run('run', { log: ['a'] }, { ...turn('1'), throwOnFailure: false })).toMatchObject({
      status: 'failed',
      reason: 'no 2',
    });
    expect(await app.run('run', { log: ['a'] }, { ...turn('1'), throwOnFailure: false })).toMatchObject({
      status: 'failed',
      turn: '1',
    });
    fails = false;
    const { status, values } = await app.run('run', { log: ['b'] }, turn('2'));
    expect({ status, log: values?.log }).toEqual({
      status: 'completed',
      log: ['a', 'first', 'b', 'first', 'second'],
    });
    const past = await app.run('run', { log: ['a'] }, { ...turn('1'), throwOnFailure: false });
    expect(past).toMatchObject({
      status: 'failed',
      reason: 'no 2',
      turn: '1',
      values: { log: ['a', 'first'] },
    });
  });

  test('and was cancelled before it was driven leaves nothing in the state', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    const aborted = AbortSignal.abort();
    expect(await app.run('run', { log: ['a'] }, { ...turn('1'), drain: aborted })).toMatchObject({
      status: 'paused',
    });
    await app.cancel('run');
    expect(await app.run('run', { log: ['b'] }, { ...turn('2'), drain: aborted })).toMatchObject({
      values: null,
    });
    await app.cancel('run');
    const { values } = await app.run('run', { log: ['c'] }, turn('3'));
    expect(values?.log).toEqual(['c', 'first', 'second']);
    expect(await app.run('run', { log: ['a'] }, turn('1'))).toMatchObject({
      status: 'cancelled',
      values: null,
    });
  });

  test('leaves no open question: what was asked beside a failure is withdrawn with the next one', async ({
    db,
  }) => {
    let fails = true;
    const graph = twoBranches(
      () => ({ answer: interrupt<string, string>('what?') }),
      () => {
        if (fails) throw new Error('no');
        return {};
      },
    );
    const app = durable(graph, { db });
    await app.run('run', {}, { ...turn('1'), throwOnFailure: false });
    const old = only(await app.gates('run'));
    fails = false;
    const second = await app.run('run', {}, turn('2'));
    expect(only(second.gates).sessionId).not.toBe(old.sessionId);
    expect(internalsOf(app).store.sessions.require(old.sessionId)).toMatchObject({ status: 'cancelled' });
    await expect(app.decide(old, { value: 'late', by: ada })).rejects.toMatchObject({ code: 'GATE_STALE' });
  });

  test('leaves no timer: what slept beside a failure wakes nobody in the next one', async ({ db }) => {
    let now = 1_000;
    let fails = true;
    const graph = twoBranches(
      async () => {
        if (fails) await sleep(60_000);
        return {};
      },
      () => {
        if (fails) throw new Error('no');
        return { answer: interrupt<string, string>('what?') };
      },
    );
    const app = durable(graph, { db, now: () => now });
    expect(await app.run('run', {}, { ...turn('1'), throwOnFailure: false })).toMatchObject({
      status: 'failed',
    });
    fails = false;
    expect(await app.run('run', {}, turn('2'))).toMatchObject({ status: 'waiting' });
    now += 120_000;
    expect(await app.runDue()).toEqual({ driven: [], refused: [] });
  });

  test('as a dead letter is followed by none until a human has brought it back', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.run('run', { log: ['a'] }, turn('1'));
    db.exec("UPDATE threads SET status = 'dead_letter'");
    const refused = { code: 'INPUT_NOT_TAKEN', message: expect.stringContaining('was given up') };
    await expect(app.run('run', { log: ['b'] }, turn('2'))).rejects.toMatchObject(refused);
    await app.revive('run', { by: ada });
    await app.run('run');
    expect(await app.run('run', { log: ['b'] }, turn('2'))).toMatchObject({ status: 'completed' });
  });

  test('is not cancelled by a request to the one before that comes late', async ({ db }) => {
    const app = durable(twoSteps(), { db, gates: { second: () => 'go on?' } });
    await app.run('run', {}, turn('1'));
    await internalsOf(app).withLease('run', async (lease) =>
      endCancelled(lease, { store: internalsOf(app).store }),
    );
    expect(await app.run('run')).toMatchObject({ status: 'waiting' });
    await app.cancel('run');
    expect(await app.run('run')).toMatchObject({ status: 'cancelled' });
  });

  test('leaves no request behind: what was asked of it is not done to the next', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.run('run', { log: ['a'] }, turn('1'));
    for (const kind of ['cancel', 'pause'] as const)
      internalsOf(app).store.threads.signal('run', { id: kind, kind, payload: null });
    expect(await app.run('run', { log: ['b'] }, turn('2'))).toMatchObject({ status: 'completed', turn: '2' });
    expect(new EventStore(db).listNamed('run', 'RUN_FINISHED').map(({ payload }) => payload)).toEqual([
      { outcome: 'completed', turn: '1' },
      { outcome: 'completed', turn: '2' },
    ]);
  });
});
