import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect, expectTypeOf } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import { ada, bob, circle, says, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import type { RunSnapshot } from '../../graph/EngineGraph.ts';
import { step } from '../../node/step.ts';
import { SqliteSaver } from '../../saver/SqliteSaver.ts';
import type { ForkResult } from '../forkRun.ts';

/** Two nodes with a call each, and a gate before the second. */
function paying(db: Database, calls: string[], version = '1') {
  db.pragma('synchronous = OFF');
  const node = (name: string) => async () => {
    const [value] = [await step('call', ({ key }) => calls.push(`${name} ${key.split('/')[0] ?? ''}`))];
    return { log: [`${name} ${value}`] };
  };
  return durable(twoSteps(node('first'), node('second')), {
    db,
    version,
    gates: { second: ({ log }) => log },
    budget: { calls: 4 },
  });
}

type App = ReturnType<typeof paying>;

interface WithHistory {
  getStateHistory(id: string): Promise<readonly Pick<RunSnapshot<unknown>, 'config'>[]>;
}

const checkpointIdsOf = async (app: WithHistory, id: string): Promise<readonly string[]> =>
  (await app.getStateHistory(id)).map(({ config }) => String(config.configurable?.['checkpoint_id']));

async function approve(app: App, id: string): Promise<void> {
  await app.decide(only(await app.gates(id)), { approved: true, by: ada });
  await app.run(id);
}

/** Every row of a run, to be compared. */
function rowsOf(db: Database, id: string): unknown {
  const tables = ['threads', 'thread_inputs', 'checkpoints', 'checkpoint_blobs', 'checkpoint_writes'];
  const more = ['agent_steps', 'hitl_sessions', 'events', 'signals'];
  return [...tables, ...more].map((table) =>
    db.prepare(`SELECT * FROM ${table} WHERE thread_id = ?`).all(id),
  );
}

describe('a fork', () => {
  test('begins where the other run stood; what lies before is not paid again, what follows is', async ({
    db,
  }) => {
    const calls: string[] = [];
    const app = paying(db, calls);
    await app.run('old', { log: ['in'] });
    await approve(app, 'old');
    expect(calls).toEqual(['first old', 'second old']);
    const [, beforeSecond = ''] = await checkpointIdsOf(app, 'old');
    const before = rowsOf(db, 'old');

    const forked = await app.fork('old', { as: 'new', checkpointId: beforeSecond, by: bob });
    expect(forked).toEqual({ id: 'new', checkpointId: beforeSecond });
    expectTypeOf(forked).toEqualTypeOf<ForkResult>();
    expect(await app.getState('new')).toMatchObject({
      values: { log: ['in', 'first 1'] },
      next: ['second'],
      metadata: { source: 'fork', step: 1 },
    });
    expect(await app.getStateHistory('new')).toHaveLength(1);
    expect(internalsOf(app).store.steps.costOf('new')).toEqual(internalsOf(app).store.steps.costOf('nobody'));

    expect(await app.run('new')).toMatchObject({ status: 'waiting' }); // its own gate
    await approve(app, 'new');
    expect(await app.values('new')).toEqual({ log: ['in', 'first 1', 'second 3'] });
    expect(calls).toEqual(['first old', 'second old', 'second new']);
    expect(rowsOf(db, 'old')).toEqual(before);
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  });

  test('says who began it, in its own log', async ({ db }) => {
    const app = paying(db, []);
    await app.run('old', { log: [] });
    const { checkpointId } = await app.fork('old', { as: 'new', by: bob });
    expect(internalsOf(app).store.log.list('new')).toMatchObject([
      { name: 'RUN_FORKED', payload: { from: 'old', checkpointId, principal: 'human:bob' } },
    ]);
  });

  test('has the context, the budget and the input of the other run', async ({ db }) => {
    const seen: unknown[] = [];
    const graph = twoSteps(undefined, ((_state: unknown, config: { context?: unknown }) => {
      seen.push(config.context);
      return {};
    }) as never);
    const app = durable(graph, { db, gates: { second: () => 'go?' }, budget: { calls: 7 } });
    await app.run('old', { log: ['in'] }, { context: { tenant: 'acme' } });
    await app.fork('old', { as: 'new', by: ada });
    await app.run('new', { log: ['in'] }); // the same input is taken
    await app.decide(only(await app.gates('new')), { approved: true, by: ada });
    await app.run('new');
    expect(seen).toEqual([{ tenant: 'acme' }]);
    expect(internalsOf(app).store.threads.policyOf('new', 'budget')).toEqual({ calls: 7 });
  });

  test('of a run that waits asks a question of its own', async ({ db }) => {
    const graph = twoSteps(undefined, () => ({ answer: interrupt('Which?') as unknown }));
    const app = durable(graph, { db });
    await app.run('old', {});
    await app.fork('old', { as: 'new', by: ada });
    const gate = only((await app.run('new')).gates);
    expect((await app.gates('old')).map(({ sessionId }) => sessionId)).not.toContain(gate.sessionId);
    await app.decide(gate, { value: 'this', by: ada });
    expect(await app.run('new')).toMatchObject({ status: 'completed', values: { answer: 'this' } });
    expect(await app.run('old')).toMatchObject({ status: 'waiting' });
  });

  test('of a run that a guard has stopped is stopped by it, too, and goes on by its own answer', async ({
    db,
  }) => {
    const app = durable(circle(), { db, guards: { maxDepth: 4 } });
    const stopped = only((await app.run('old', {})).gates);
    expect(stopped.kind).toBe('recursion_limit');
    await app.fork('old', { as: 'new', by: ada });
    const own = only((await app.run('new')).gates);
    expect(own).toMatchObject({ kind: 'recursion_limit', threadId: 'new' });
    await app.decide(own, { action: 'continue', by: ada });
    const again = only((await app.run('new')).gates);
    expect(again.sessionId).not.toBe(own.sessionId);
    expect(await app.gates('old')).toMatchObject([{ sessionId: stopped.sessionId }]);
  });

  test('has the turns that the other run had taken up by then, and no later one', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    for (const turn of ['m-1', 'm-2', 'm-3']) await app.run('old', { log: [turn] }, { turn });
    const { values } = await app.getState('old');
    const second = (await app.getStateHistory('old')).find(
      (snapshot) => snapshot.values.log.at(-1) === 'm-2' && snapshot.next.includes('first'),
    );
    const checkpointId = String(second?.config.configurable?.['checkpoint_id']);
    await app.fork('old', { as: 'new', checkpointId, by: ada });
    await app.run('new', { log: ['m-2'] }, { turn: 'm-2' }); // is its turn
    expect((await app.getState('new')).values.log).toEqual(values.log.slice(0, 6));
    expect((await app.run('new', { log: ['m-1'] }, { turn: 'm-1' })).status).toBe('completed'); // was one
    await app.run('new', { log: ['m-3'] }, { turn: 'm-3' }); // is a new one
    expect(await app.values('new')).toEqual(values);
  });

  test('of a run that has ended has ended, once it is driven', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.run('old', {});
    await app.fork('old', { as: 'new', by: ada });
    expect(await app.run('new')).toMatchObject({ status: 'completed', values: { log: ['first', 'second'] } });
  });

  test('has what graphs inside nodes remember as of then', async ({ db }) => {
    const Count = Annotation.Root({
      total: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
    });
    const counter = new StateGraph(Count)
      .addNode('add', () => ({ total: 1 }))
      .addEdge(START, 'add')
      .addEdge('add', END)
      .compile({ checkpointer: true });
    const Rounds = Annotation.Root({
      seen: Annotation<readonly number[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const app = durable(
      new StateGraph(Rounds)
        .addNode('count', async () => ({ seen: [(await counter.invoke({ total: 0 })).total] }), {
          subgraphs: [counter],
        })
        .addEdge(START, 'count')
        .addConditionalEdges('count', ({ seen }) => (seen.length < 3 ? 'count' : END), ['count', END]),
      { db },
    );
    expect((await app.run('old', {})).values).toEqual({ seen: [1, 2, 3] });
    const saver = new SqliteSaver(db);
    const remembered = async (id: string) => {
      const tuple = await saver.getTuple({ configurable: { thread_id: id, checkpoint_ns: 'count' } });
      return tuple?.checkpoint.channel_values['total'] ?? 0;
    };
    for (const { config, values } of await app.getStateHistory('old')) {
      const checkpointId = String(config.configurable?.['checkpoint_id']);
      const { id } = await app.fork('old', { as: `new ${checkpointId}`, checkpointId, by: ada });
      expect(await remembered(id)).toBe(values.seen.length);
    }
  });

  test('at every checkpoint of a run ends as the run did', async ({ db }) => {
    db.pragma('synchronous = OFF');
    const app = durable(circleOf(3), { db });
    const { values } = await app.run('old', {});
    const ids = await checkpointIdsOf(app, 'old');
    expect(ids.length).toBeGreaterThan(3);
    for (const [at, checkpointId] of ids.entries()) {
      await app.fork('old', { as: `f${at}`, checkpointId, by: ada });
      expect(await app.run(`f${at}`)).toMatchObject({ status: 'completed', values });
    }
  });

  test('begins from a run that is being driven, and from one whose breakpoint waits', async ({ db }) => {
    const app = durable(twoSteps().compile({ interruptBefore: ['second'] }), { db });
    await app.run('old', {});
    await internalsOf(app).withLease('old', async () => {
      await app.fork('old', { as: 'new', by: ada });
    });
    const gate = only((await app.run('new')).gates);
    expect(gate).toMatchObject({ kind: 'interrupt', threadId: 'new' });
    await app.decide(gate, { value: true, by: ada });
    expect(await app.run('new')).toMatchObject({ status: 'completed', values: { log: ['first', 'second'] } });
  });

  test('is refused before anything is written', async ({ db }) => {
    const app = paying(db, []);
    const changed = paying(db, [], '2');
    await app.run('old', { log: [] });
    await internalsOf(app).recordRun({ threadId: 'unbegun', input: {} });
    await internalsOf(app).recordRun({ threadId: 'folder', workspace: '/somewhere', input: {} });
    const plain = twoSteps(says('a'), says('b')).compile({ checkpointer: app.graph.checkpointer as never });
    await plain.invoke({}, { configurable: { thread_id: 'raw' } });
    const total = () => db.prepare('SELECT total_changes()').pluck().get();
    const before = total();
    const refusals: readonly (readonly [string, object, object])[] = [
      ['none', { as: 'new' }, { code: 'THREAD_NOT_FOUND' }],
      ['unbegun', { as: 'new' }, { code: 'CHECKPOINT_NOT_FOUND' }],
      ['old', { as: 'new', checkpointId: 'none' }, { code: 'CHECKPOINT_NOT_FOUND' }],
      ['old', { as: 'old' }, { code: 'THREAD_EXISTS' }],
      ['old', { as: 'raw' }, { code: 'THREAD_NOT_OURS' }],
      ['folder', { as: 'new' }, { code: 'WORKSPACE_BUSY' }],
      ['old', { as: 'new', by: { kind: 'agent', id: 'a' } }, { code: 'AGENT_MAY_NOT_DECIDE' }],
      ['old', { as: 'new', by: { kind: 'policy', id: 'p' } }, { code: 'POLICY_NOT_DECLARED' }],
    ];
    for (const [id, fork, error] of refusals) {
      await expect(app.fork(id, { by: ada, ...fork } as never)).rejects.toMatchObject(error);
    }
    for (const as of ['', undefined, 7, '\ud800']) {
      await expect(app.fork('old', { as, by: ada } as never)).rejects.toThrow(TypeError);
    }
    await expect(changed.fork('old', { as: 'new', by: ada })).rejects.toMatchObject({
      code: 'GRAPH_CHANGED',
    });
    expect(total()).toBe(before);
  });

  test('of one id, made twice at once, is made once', async ({ db }) => {
    const app = paying(db, []);
    await app.run('old', { log: [] });
    const both = await Promise.allSettled([1, 2].map(() => app.fork('old', { as: 'new', by: ada })));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'THREAD_EXISTS' },
    });
  });
});

function circleOf(rounds: number) {
  const State = Annotation.Root({ n: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }) });
  return new StateGraph(State)
    .addNode('add', async () => ({ n: await step('one', () => 1) }))
    .addEdge(START, 'add')
    .addConditionalEdges('add', ({ n }) => (n < rounds ? 'add' : END), ['add', END]);
}
