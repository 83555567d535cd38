import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { SqliteSaver as OfficialSaver } from '@langchain/langgraph-checkpoint-sqlite';
import Database from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { notFileRuns, notThroughRuns, ofOneFile, WHERE } from '../../../../test/support/runs/where.ts';
import { at, goOn } from '../../../../test/transfer/threads.ts';
import { internalsOf } from '../../file/appInternals.ts';

const ada = { kind: 'human', id: 'ada' } as const;

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});

/** Asks so many questions in one node, between two others. */
const asking = (questions = 1, nodes: { readonly ask?: string } = {}) => {
  const { ask = 'ask' } = nodes;
  return new StateGraph(Log)
    .addNode('draft', () => ({ log: ['draft'] }))
    .addNode(ask, () => ({
      log: Array.from({ length: questions }, (_, n) => interrupt<string, string>(`question ${n}`)),
    }))
    .addNode('end', ({ log }) => ({ log: [`end of ${log.length}`] }))
    .addEdge(START, 'draft')
    .addEdge('draft', ask as '__start__')
    .addEdge(ask as '__start__', 'end')
    .addEdge('end', END);
};

async function waiting(threadId = 'post', questions = 1, saver: BaseCheckpointSaver = new MemorySaver()) {
  const graph = asking(questions).compile({ checkpointer: saver });
  await graph.invoke({ log: [] }, at(threadId));
  return { saver, graph };
}

const newest = async (saver: BaseCheckpointSaver, threadId = 'post'): Promise<CheckpointTuple> =>
  (await saver.getTuple(at(threadId))) as CheckpointTuple;

const NULL_TASK = '00000000-0000-0000-0000-000000000000';

/** Answers every gate with the words of `say` until the run ends. */
async function toEnd(
  app: ReturnType<typeof appOver>,
  id: string,
  say: (asked: unknown) => string = (asked) => `(${String(asked)})`,
) {
  for (let ran = await app.run(id); ran.status === 'waiting'; ran = await app.run(id))
    for (const gate of ran.gates) await app.decide(gate, { value: say(gate.artifact), by: ada });
  return app.values(id);
}

const appOver = (db: Database.Database, graph = asking(), options: object = {}) =>
  durable(graph, { db, ...options });

const rows = (db: Database.Database): unknown =>
  [
    'threads',
    'thread_inputs',
    'checkpoints',
    'checkpoint_blobs',
    'checkpoint_writes',
    'hitl_sessions',
    'events',
  ].map((table) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());

async function listOf<T>(items: AsyncIterable<T> | readonly T[]): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const refusal = (reason: string) => ({ code: 'TRANSFER_REFUSED', context: { threadId: 'post', reason } });

describe('a waiting thread', notFileRuns('imports a thread'), () => {
  test('becomes a run at the same interrupt, and says who imported it', async ({ db }) => {
    const { saver } = await waiting();
    const before = await newest(saver);
    const app = appOver(db);
    expect(await app.importThread('post', { saver, by: ada, dryRun: true })).toEqual({
      ...{ id: 'post', result: 'importable', status: 'waiting', gates: 1, checkpoints: 1 },
    });
    expect(await app.get('post')).toBeNull();
    const options = { saver, by: ada, metadata: { tenant: 'acme' }, tags: ['old'] };
    expect(await app.importThread('post', options)).toEqual({
      ...{ id: 'post', result: 'imported', status: 'waiting', gates: 1, checkpoints: 1 },
    });
    expect(await app.get('post')).toMatchObject({
      status: 'waiting',
      metadata: { tenant: 'acme' },
      tags: ['old'],
    });
    expect(only(await app.gates('post'))).toMatchObject({ kind: 'interrupt', artifact: 'question 0' });
    const { tasks } = await app.getState('post');
    const { pendingWrites = [] } = before;
    const asked = pendingWrites
      .filter(([, name]) => name === '__interrupt__')
      .flatMap(([, , value]) => value);
    expect(only(tasks).interrupts).toEqual(asked);
    expect(internalsOf(app).store.log.listNamed('post', 'RUN_IMPORTED')).toMatchObject([
      { payload: { principal: 'human:ada', checkpointId: before.checkpoint.id, checkpoints: 1 } },
    ]);
    expect(await toEnd(app, 'post')).toEqual({ log: ['draft', '(question 0)', 'end of 2'] });
    expect(await newest(saver)).toEqual(before);
  });

  test(
    'of a file leaves every byte of it, while another process has it open',
    ofOneFile('shares the file'),
    async ({ db, dbPath }) => {
      const path = join(dirname(dbPath), 'checkpoints.sqlite');
      const live = OfficialSaver.fromConnString(path);
      await waiting('post', 1, live);
      const bytes = () => ['', '-wal'].map((suffix) => readFileSync(`${path}${suffix}`));
      const before = bytes();
      const source = new Database(path, { readonly: true });
      const saver = new OfficialSaver(source as never);
      await appOver(db).importThread('post', { saver, by: ada, history: true });
      expect(bytes()).toEqual(before);
      source.close();
      expect(bytes()).toEqual(before);
      live.db.close();
    },
  );

  test('has any id that LangGraph takes', async ({ db }) => {
    const app = appOver(db);
    for (const id of [
      ' ',
      'a/b|c:1',
      '日本',
      "'; DROP TABLE threads",
      'x'.repeat(2_000),
      ...(WHERE === 'postgres' ? [] : ['a\u0000b']), // PostgreSQL stores no NUL
      '../..',
    ]) {
      const { saver } = await waiting(id);
      expect(await app.importThread(id, { saver, by: ada })).toMatchObject({ id, result: 'imported' });
      expect(await toEnd(app, id)).toMatchObject({ log: ['draft', '(question 0)', 'end of 2'] });
    }
    const { saver } = await waiting();
    await expect(app.importThread('', { saver, by: ada })).rejects.toThrow(TypeError);
    await expect(app.importThread('\ud800', { saver, by: ada })).rejects.toThrow(TypeError);
    await expect(app.importThread('post', { saver: {} as never, by: ada })).rejects.toThrow(TypeError);
    await expect(app.importThread('none', { saver, by: ada })).rejects.toMatchObject({
      code: 'THREAD_NOT_FOUND',
    });
    const agent = { kind: 'agent', id: 'bot' } as const;
    await expect(app.importThread('post', { saver, by: agent })).rejects.toMatchObject({
      code: 'AGENT_MAY_NOT_DECIDE',
    });
  });
});

describe('a thread that is imported again', notFileRuns('imports a thread'), () => {
  test('is one run: unchanged, or refused where one of the two has gone on', async ({ db }) => {
    const { saver, graph } = await waiting('post', 2);
    const app = appOver(db, asking(2));
    await app.importThread('post', { saver, by: ada });
    expect(await app.importThread('post', { saver, by: ada })).toMatchObject({
      result: 'unchanged',
      gates: 1,
    });
    await app.run('post');
    expect(await app.importThread('post', { saver, by: ada })).toMatchObject({
      result: 'unchanged',
      gates: 1,
    });

    await graph.invoke(new Command({ resume: 'there' }), at('post'));
    await expect(app.importThread('post', { saver, by: ada })).rejects.toMatchObject(
      refusal('moved_on_there'),
    );
    await expect(app.importThread('post', { saver, by: ada, dryRun: true })).rejects.toMatchObject(
      refusal('moved_on_there'),
    );
    expect(await toEnd(app, 'post')).toMatchObject({
      log: ['draft', '(question 0)', '(question 1)', 'end of 3'],
    });

    const second = await waiting('other');
    const before = second.saver;
    await app.importThread('other', { saver: before, by: ada });
    await app.decide(only(await app.gates('other')), { value: 'here', by: ada });
    const moved = { ...refusal('moved_on_here'), context: { threadId: 'other', reason: 'moved_on_here' } };
    await expect(app.importThread('other', { saver: before, by: ada })).rejects.toMatchObject(moved);
    expect(await toEnd(app, 'other')).toMatchObject({ log: ['draft', 'here', '(question 1)', 'end of 3'] });
  });

  test('leaves a run of its id that was not imported', async ({ db }) => {
    const { saver } = await waiting();
    const app = appOver(db);
    await app.run('post', { log: ['own'] });
    await expect(app.importThread('post', { saver, by: ada })).rejects.toMatchObject({
      code: 'THREAD_EXISTS',
    });
    expect(await app.values('post')).toEqual({ log: ['own', 'draft'] });
  });
});

describe('a thread that the graph cannot take', notThroughRuns('watches its own store'), () => {
  test.for([
    ['node_missing', asking(1, { ask: 'question' }), {}],
    [
      'channel_missing',
      new StateGraph(Annotation.Root({ other: Annotation<string> }))
        .addNode('draft', () => ({}))
        .addNode('ask', () => ({}))
        .addEdge(START, 'draft')
        .addEdge('draft', 'ask'),
      {},
    ],
    ['gate_declared', asking(), { gates: { ask: ({ log }: typeof Log.State) => log } }],
  ] as const)('is refused with %s before anything is written', async ([reason, graph, options], { db }) => {
    const { saver } = await waiting();
    const app = appOver(db, graph as never, options);
    const before = rows(db);
    for (const dryRun of [true, false])
      await expect(app.importThread('post', { saver, by: ada, dryRun })).rejects.toMatchObject(
        refusal(reason),
      );
    expect(rows(db)).toEqual(before);
  });

  test('is refused for what a file cannot hold', async ({ db }) => {
    const { saver } = await waiting();
    const before = rows(db);
    const small = appOver(db, asking(), { limits: { checkpointBytes: 10 } });
    await expect(small.importThread('post', { saver, by: ada })).rejects.toMatchObject({
      code: 'VALUE_TOO_LARGE',
    });
    const odd = Object.assign(Object.create(saver) as MemorySaver, {
      getTuple: async (config: object) => {
        const tuple = await saver.getTuple(config);
        if (tuple !== undefined) tuple.checkpoint.channel_values['log'] = [() => 'code'];
        return tuple;
      },
    });
    await expect(appOver(db).importThread('post', { saver: odd, by: ada })).rejects.toMatchObject({
      code: 'VALUE_NOT_STORABLE',
    });
    expect(rows(db)).toEqual(before);
  });

  test('is refused while it changes', async ({ db }) => {
    const { saver, graph } = await waiting();
    let reads = 0;
    const busy = Object.assign(Object.create(saver) as MemorySaver, {
      getTuple: async (config: object) => {
        reads += 1;
        if (reads === 3) await graph.invoke(new Command({ resume: 'there' }), at('post'));
        return saver.getTuple(config);
      },
    });
    await expect(appOver(db).importThread('post', { saver: busy, by: ada })).rejects.toMatchObject(
      refusal('in_use'),
    );
  });
});

describe('a thread of an earlier format', notFileRuns('imports a thread'), () => {
  test('whose answers had no id is asked its next question, and no answer twice', async ({ db }) => {
    const { saver, graph } = await waiting('post', 3);
    await graph.invoke(new Command({ resume: 'first' }), at('post'));
    const app = appOver(db, asking(3));
    await app.importThread('post', { saver, by: ada });
    expect(await toEnd(app, 'post')).toEqual({
      log: ['draft', 'first', '(question 1)', '(question 2)', 'end of 4'],
    });
  });

  test('with an answer that its node has not taken has it taken', async ({ db }) => {
    const { saver } = await waiting('post', 2);
    const { config } = await newest(saver);
    await saver.putWrites(config, [['__resume__', 'given']], NULL_TASK);
    const app = appOver(db, asking(2));
    expect(await app.importThread('post', { saver, by: ada })).toMatchObject({ status: 'paused', gates: 0 });
    expect(await toEnd(app, 'post')).toEqual({ log: ['draft', 'given', '(question 1)', 'end of 3'] });
  });

  test.for(['without an id', 'with the id of the first question'])(
    'has interrupts %s',
    async (form, { db }) => {
      const { saver, graph } = await waiting('post', 2);
      const first = only(only((await graph.getState(at('post'))).tasks).interrupts).id;
      await graph.invoke(new Command({ resume: 'first' }), at('post'));
      const older = Object.assign(Object.create(saver) as MemorySaver, {
        getTuple: async (config: object) => {
          const tuple = await saver.getTuple(config);
          const pendingWrites = tuple?.pendingWrites?.map(([taskId, channel, value]) => {
            if (channel !== '__interrupt__') return [taskId, channel, value];
            const asked = { value: 'question 1', when: 'during', resumable: true, ns: [`ask:${taskId}`] };
            return [taskId, channel, [form === 'without an id' ? asked : { id: first, value: 'question 1' }]];
          });
          return tuple && { ...tuple, pendingWrites };
        },
      });
      const app = appOver(db, asking(2));
      await app.importThread('post', { saver: older as never, by: ada });
      expect(await toEnd(app, 'post')).toEqual({ log: ['draft', 'first', '(question 1)', 'end of 3'] });
    },
  );

  test('has sends as writes of the checkpoint before', async ({ db }) => {
    const graph = () =>
      new StateGraph(Log)
        .addNode('plan', () => ({}))
        .addNode('ask', ({ log }) => ({ log: [interrupt<string, string>(`about ${String(log)}`)] }))
        .addEdge(START, 'plan')
        .addConditionalEdges('plan', () => ['a', 'b'].map((each) => new Send('ask', { log: [each] })), [
          'ask',
        ]);
    const saver = new MemorySaver();
    const plain = graph().compile({ checkpointer: saver });
    await plain.invoke({ log: [] }, at('post'));
    const { checkpoint, config, metadata, parentConfig, pendingWrites = [] } = await newest(saver);
    const sends = checkpoint.channel_values['__pregel_tasks'] as unknown[];
    delete checkpoint.channel_values['__pregel_tasks'];
    const earlier = { ...checkpoint, v: 1 };
    await saver.put(parentConfig as never, earlier, metadata as never);
    for (const [at, send] of sends.entries())
      await saver.putWrites(parentConfig as never, [['__pregel_tasks', send]], `task-${at}`);
    expect((await newest(saver)).checkpoint.v).toBe(1);
    expect([config, pendingWrites.length]).toEqual([(await newest(saver)).config, 2]);
    const app = durable(graph(), { db });
    expect(await app.importThread('post', { saver, by: ada })).toMatchObject({ gates: 2 });
    const { values } = await goOn(
      plain as never,
      { answer: (asked) => `(${String(asked)})` },
      { saver, threadId: 'post' },
    );
    expect(await toEnd(app as never, 'post')).toEqual(values);
    expect(values).toMatchObject({ log: expect.arrayContaining(['(about a)', '(about b)']) });
  });
});

describe('what comes with a thread', notFileRuns('imports a thread'), () => {
  test('is its history, where two branches have given values one version', async ({ db }) => {
    const { saver, graph } = await waiting();
    const [, before] = await listOf(graph.getStateHistory(at('post')));
    await graph.updateState(before?.config as never, { log: ['other'] }, 'draft');
    await graph.invoke(null, at('post'));
    const told = async (
      history:
        | AsyncIterable<{ readonly values: unknown; readonly next: unknown }>
        | readonly { readonly values: unknown; readonly next: unknown }[],
    ) => (await listOf(history)).map(({ values, next }) => ({ values, next }));
    const app = appOver(db);
    await app.importThread('post', { saver, by: ada, history: true });
    expect(await told(await app.getStateHistory('post'))).toEqual(
      await told(graph.getStateHistory(at('post'))),
    );
    expect(await toEnd(app, 'post')).toEqual({ log: ['other', '(question 0)', 'end of 2'] });
  });

  test('is the end of one that has finished: its next turn is a turn of the run', async ({ db }) => {
    const { saver, graph } = await waiting();
    await graph.invoke(new Command({ resume: 'yes' }), at('post'));
    const app = appOver(db);
    expect(await app.importThread('post', { saver, by: ada })).toMatchObject({
      status: 'completed',
      gates: 0,
    });
    expect(await app.run('post', { log: ['again'] }, { turn: 't2' })).toMatchObject({ status: 'waiting' });
    const log = ['draft', 'yes', 'end of 2', 'again', 'draft', '(question 0)', 'end of 6'];
    expect(await toEnd(app, 'post')).toEqual({ log });
  });

  test('is the breakpoint that it stands at', async ({ db }) => {
    const saver = new MemorySaver();
    const stops = { interruptBefore: ['end'] as never, interruptAfter: ['draft'] as never };
    const graph = asking().compile({ checkpointer: saver, ...stops });
    await graph.invoke({ log: [] }, at('post'));
    const app = appOver(db, asking().compile(stops) as never);
    expect(await app.importThread('post', { saver, by: ada })).toMatchObject({ status: 'waiting', gates: 1 });
    expect(only(await app.gates('post')).artifact).toMatchObject({
      breakpoint: { when: 'after', nodes: ['draft'] },
    });
    expect(await toEnd(app, 'post', () => 'on')).toEqual({ log: ['draft', 'on', 'end of 2'] });
  });

  test('is the context of its nodes', async ({ db }) => {
    const told = () =>
      new StateGraph(Log)
        .addNode('ask', (_state, { configurable }) => ({
          log: [interrupt<string, string>('who?'), String(configurable?.['user'])],
        }))
        .addEdge(START, 'ask');
    const saver = new MemorySaver();
    await told()
      .compile({ checkpointer: saver })
      .invoke({ log: [] }, { configurable: { thread_id: 'post', user: 'eve' } });
    const app = durable(told(), { db });
    await app.importThread('post', { saver, by: ada, configurable: { user: 'eve' } });
    expect(await toEnd(app as never, 'post')).toEqual({ log: ['(who?)', 'eve'] });
    const reserved = { saver, by: ada, configurable: { thread_id: 'x' } };
    await expect(app.importThread('post', reserved)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});
