import type { RunnableConfig } from '@langchain/core/runnables';
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  NodeInterrupt,
  START,
  StateGraph,
} from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import { ada, bob, type Own, OwnState, twoBranches, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import type { Gate } from '../../gates/Gate.ts';
import { step } from '../../node/step.ts';

function gated(db: Database, version = '1') {
  db.pragma('synchronous = OFF');
  return durable(twoSteps(), { db, version, gates: { second: ({ log }: Own) => log } });
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** Rows written on this connection so far. */
const writesOn = (db: Database): unknown => db.prepare('SELECT total_changes()').pluck().get();

describe('an update of the state', () => {
  test('leads to the state that LangGraph alone would have', async ({ db }) => {
    const plain = twoSteps().compile({ checkpointer: new MemorySaver(), interruptBefore: ['second'] });
    const config = { configurable: { thread_id: 'run' } };
    await plain.invoke({ log: ['in'] }, config);
    await plain.updateState(config, { log: ['by hand'], answer: 7 });
    const expected = await plain.getState(config);

    const app = gated(db);
    await app.run('run', { log: ['in'] });
    const updated = await app.updateState('run', { log: ['by hand'], answer: 7 }, { by: bob });
    const state = await app.getState('run');
    expect(updated).toEqual(state.config);
    expect(state).toMatchObject({
      values: expected.values as object,
      next: expected.next,
      metadata: { source: 'update', step: expected.metadata?.step as number },
    });
  });

  test('asks what is open anew, under another question: an answer to the old one counts no more', async ({
    db,
  }) => {
    const app = gated(db);
    const before = only((await app.run('run', {})).gates);
    await app.updateState('run', { log: ['by hand'] }, { by: bob });
    expect(await app.gates('run')).toEqual([]);
    await expect(app.decide(before, { approved: true, by: ada })).rejects.toMatchObject({
      code: 'GATE_STALE',
    });
    const after = only((await app.run('run')).gates);
    expect(after.artifact).toEqual(['first', 'by hand']);
    await app.decide(after, { approved: true, by: ada });
    expect(await app.run('run')).toMatchObject({ values: { log: ['first', 'by hand', 'second'] } });
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  });

  test('says who made it, and what of it', async ({ db }) => {
    const app = gated(db);
    await app.run('run', {});
    await app.updateState('run', { log: ['by hand'] }, { asNode: 'first', by: bob });
    const { checkpoint_id: checkpointId } = (await app.getState('run')).config.configurable ?? {};
    expect(internalsOf(app).store.log.list('run').slice(-1)).toMatchObject([
      {
        name: 'STATE_UPDATED',
        payload: { principal: 'human:bob', checkpointId, channels: ['log'], node: 'first' },
      },
    ]);
    expect((await app.list()).runs).toMatchObject([
      { status: 'paused', reason: 'state updated by human:bob' },
    ]);
  });

  test('is taken up by whoever waits for a gate', async ({ db }) => {
    const app = gated(db);
    const { gates } = await app.run('run', {});
    const waiting = app.run('run', undefined, { wait: true });
    while ((await app.list({ status: 'waiting' })).runs[0]?.isDriven !== false) await turn();
    await app.updateState('run', { log: ['by hand'] }, { by: bob });
    let asked = gates;
    while (asked[0]?.sessionId === gates[0]?.sessionId || asked.length === 0) {
      await turn();
      asked = await app.gates('run');
    }
    await app.decide(only(asked), { approved: true, by: ada });
    expect(await waiting).toMatchObject({
      status: 'completed',
      values: { log: ['first', 'by hand', 'second'] },
    });
  });

  test('leads where the node would have led: back to a node of a run that has ended', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.run('run', {});
    await app.updateState('run', { log: ['again'] }, { asNode: 'first', by: ada });
    expect((await app.getState('run')).next).toEqual(['second']);
    expect(await app.run('run')).toMatchObject({
      status: 'completed',
      values: { log: ['first', 'second', 'again', 'second'] },
    });
  });

  test('of an ended turn that leads to no node is what the next turn begins with, as by LangGraph alone', async ({
    db,
  }) => {
    const plain = twoSteps().compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: 'run' } };
    await plain.invoke({ log: ['in'] }, config);
    await plain.updateState(config, { log: ['by hand'] });
    const expected = await plain.invoke({ log: ['next'] }, config);

    const app = durable(twoSteps(), { db });
    await app.run('run', { log: ['in'] }, { turn: 'm-1' });
    await app.updateState('run', { log: ['by hand'] }, { by: ada });
    const changed = { status: 'completed', values: { log: ['in', 'first', 'second', 'by hand'] } };
    expect(await app.run('run')).toMatchObject(changed);
    expect(await app.run('run', { log: ['next'] }, { turn: 'm-2' })).toMatchObject({
      status: 'completed',
      values: expected,
    });
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  });

  test('of an ended turn that leads to a node belongs to that turn: it ends first', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.run('run', {}, { turn: 'm-1' });
    await app.updateState('run', { log: ['again'] }, { asNode: 'first', by: ada });
    const next = (): Promise<unknown> => app.run('run', { log: ['next'] }, { turn: 'm-2' });
    await expect(next()).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
    await app.run('run');
    expect(await next()).toMatchObject({ status: 'completed' });
  });

  test('of nothing is one more checkpoint', async ({ db }) => {
    const app = gated(db);
    await app.run('run', {});
    await app.updateState('run', null, { by: ada });
    expect(await app.getState('run')).toMatchObject({ values: { log: ['first'] }, next: ['second'] });
  });

  test('of a run that a guard has stopped leaves the guard its question', async ({ db }) => {
    const app = durable(
      new StateGraph(OwnState)
        .addNode('round', () => ({ log: ['round'] }))
        .addEdge(START, 'round')
        .addConditionalEdges('round', ({ log }) => (log.includes('stop') ? END : 'round')),
      { db, guards: { maxDepth: 3 } },
    );
    expect(only((await app.run('run', {})).gates).kind).toBe('recursion_limit');
    await app.updateState('run', { answer: 1 }, { asNode: 'round', by: ada });
    const again = only((await app.run('run')).gates);
    expect(again.kind).toBe('recursion_limit');
    await app.decide(again, { action: 'continue', by: ada });
    await app.run('run');
    await app.updateState('run', { log: ['stop'] }, { asNode: 'round', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
  });

  test('of a failed run is what it is tried again with; the call that threw is made again', async ({
    db,
  }) => {
    const calls: string[] = [];
    const call = (log: readonly string[]) => {
      calls.push(log.join());
      if (!log.includes('mended')) throw new Error('broken');
      return 'done';
    };
    const graph = twoSteps(undefined, async ({ log }) => ({ log: [await step('call', () => call(log))] }));
    const app = durable(graph, { db });
    expect(await app.run('run', {}, { throwOnFailure: false })).toMatchObject({ status: 'failed' });
    await app.updateState('run', { log: ['mended'] }, { by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
    expect(calls).toEqual(['first', 'first,mended']);
  });
});

const Asking = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  ok: Annotation<boolean>(),
});

/** A graph in a node, which throws an interrupt until the state says `ok`. */
function nestedAsking(first: () => Promise<{ log: string[] }>) {
  const inner = new StateGraph(Asking)
    .addNode('first', first)
    .addNode('ask', ({ ok }) => {
      if (!ok) throw new NodeInterrupt('Not yet.');
      return { log: ['asked'] };
    })
    .addNode('last', () => ({ log: ['last'] }))
    .addEdge(START, 'first')
    .addEdge('first', 'ask')
    .addEdge('ask', 'last')
    .compile();
  return new StateGraph(Asking)
    .addNode('before', () => ({ log: ['before'] }))
    .addNode('outer', inner)
    .addNode('after', () => ({ log: ['after'] }))
    .addEdge(START, 'before')
    .addEdge('before', 'outer')
    .addEdge('outer', 'after');
}

test('an update lets a graph inside a node go on that had thrown an interrupt, as by LangGraph alone', async ({
  db,
}) => {
  const ran: string[] = [];
  const build = (who: string) =>
    nestedAsking(async () => {
      ran.push(who);
      return { log: ['first'] };
    });
  const plain = build('plain').compile({ checkpointer: new MemorySaver() });
  const at = { configurable: { thread_id: 'run' } };
  await plain.invoke({ ok: false }, at);
  await plain.updateState(at, { ok: true });
  const expected = await plain.invoke(null, at);

  const app = durable(build('own'), { db });
  const gate = only((await app.run('run', { ok: false })).gates);
  expect(gate).toMatchObject({ kind: 'interrupt', artifact: 'Not yet.' });
  await app.updateState('run', { ok: true }, { by: ada });
  const { status, values } = await app.run('run');
  expect(status).toBe('completed');
  expect(values).toEqual(expected);
  expect(ran).toEqual(['plain', 'plain', 'own', 'own']);
  await expect(app.decide(gate, { value: 'late', by: ada })).rejects.toMatchObject({ code: 'GATE_STALE' });
});

describe('an update of a subgraph', () => {
  const inner = async (graph: { getState: (...args: never[]) => Promise<unknown> }, ...at: unknown[]) => {
    const { tasks } = (await graph.getState(...(at as never[]))) as {
      readonly tasks: readonly { readonly state?: { readonly config: RunnableConfig } }[];
    };
    return only(tasks).state?.config as RunnableConfig;
  };

  const nested = (ran: string[]) =>
    nestedAsking(async () => {
      ran.push('first');
      return { log: ['first'] };
    });

  test.for(['the subgraph', 'a subgraph of it'] as const)(
    'lets %s go on from where it stands, as by LangGraph alone',
    async (which, { db }) => {
      const deep = (ran: string[]) =>
        new StateGraph(Asking).addNode('around', nested(ran).compile()).addEdge(START, 'around');
      const build = which === 'the subgraph' ? nested : deep;
      const ran: string[] = [];
      const at = { configurable: { thread_id: 'run' } };
      const innermost = async (state: unknown): Promise<RunnableConfig> => {
        let { tasks } = state as { readonly tasks: readonly { readonly state?: unknown }[] };
        let found: unknown;
        while (only(tasks).state !== undefined) {
          found = only(tasks).state;
          ({ tasks } = found as { readonly tasks: readonly { readonly state?: unknown }[] });
        }
        return (found as { readonly config: RunnableConfig }).config;
      };
      const plain = build(ran).compile({ checkpointer: new MemorySaver() });
      await plain.invoke({ ok: false }, at);
      await plain.updateState(await innermost(await plain.getState(at, { subgraphs: true })), { ok: true });
      const expected = await plain.invoke(null, at);
      expect(ran.splice(0)).toEqual(['first']);

      const app = durable(build(ran), { db });
      const gate = only((await app.run('run', { ok: false })).gates);
      const config = await innermost(await app.getState('run', { subgraphs: true }));
      const updated = await app.updateState('run', { ok: true }, { config, by: ada });
      expect(updated.configurable).toMatchObject({ checkpoint_ns: config.configurable?.['checkpoint_ns'] });
      expect(await app.gates('run')).toEqual([]);
      await expect(app.decide(gate, { value: 'late', by: ada })).rejects.toMatchObject({
        code: 'GATE_STALE',
      });
      const { status, values } = await app.run('run');
      expect(status).toBe('completed');
      expect(values).toEqual(expected);
      expect(ran).toEqual(['first']);
      expect(doctor(db).ok).toBe(true);
    },
  );

  test('that says nothing of the question is asked it again; one beside keeps its gate', async ({ db }) => {
    const ran: string[] = [];
    const graph = nested(ran)
      .addNode('beside', () => ({ log: [interrupt<string, string>('beside?')] }))
      .addEdge('before', 'beside');
    const app = durable(graph, { db });
    const { gates } = await app.run('run', { ok: false });
    const [beside, asked] = ['beside?', 'Not yet.'].map((artifact) =>
      only(gates.filter((gate) => gate.artifact === artifact)),
    ) as [Gate, Gate];
    const { tasks } = await app.getState('run', { subgraphs: true });
    const state = tasks.find(({ name }) => name === 'outer')?.state as { readonly config: RunnableConfig };
    await app.updateState('run', { log: ['by hand'] }, { config: state.config, asNode: 'first', by: ada });
    expect(await app.gates('run')).toMatchObject([{ sessionId: beside.sessionId }]);

    const again = (await app.run('run')).gates;
    const anew = only(again.filter(({ artifact }) => artifact === 'Not yet.'));
    expect(anew.sessionId).not.toBe(asked.sessionId);
    expect(only(again.filter(({ artifact }) => artifact === 'beside?')).sessionId).toBe(beside.sessionId);
    await app.decide(beside, { value: 'yes', by: ada });
    expect(only((await app.run('run')).gates).sessionId).toBe(anew.sessionId);
  });

  test('is refused before anything is written', async ({ db }) => {
    const app = durable(nested([]), { db });
    await app.run('run', { ok: false });
    const config = await inner(app as never, 'run', { subgraphs: true });
    const before = writesOn(db);
    const update = (values: object, given: object) =>
      app.updateState('run', values as never, { config, by: ada, ...given } as never);
    await expect(update({ nothing: 1 }, {})).rejects.toThrow('the graph has no channel "nothing"');
    await expect(update({ ok: true }, { asNode: 'outer' })).rejects.toThrow(
      'asNode: there is no node "outer"',
    );
    await expect(update({ ok: true }, { by: { kind: 'agent', id: 'a' } })).rejects.toMatchObject({
      code: 'AGENT_MAY_NOT_DECIDE',
    });
    await expect(update({ ok: true }, { config: { configurable: { thread_id: 'run' } } })).rejects.toThrow(
      'config: expected that of the state of a subgraph of run "run"',
    );
    const { configurable } = config;
    const other = { configurable: { ...configurable, checkpoint_ns: 'before:1' } };
    await expect(update({ ok: true }, { config: other })).rejects.toThrow('has no subgraph "before"');
    const old = { configurable: { ...configurable, checkpoint_id: 'old' } };
    await expect(update({ ok: true }, { config: old })).rejects.toMatchObject({
      code: 'UPDATE_REFUSED',
      context: { threadId: 'run', reason: 'moved_on' },
    });
    expect(writesOn(db)).toBe(before);
  });

  test('is refused while the node that asks has recorded a step, not for those before it', async ({ db }) => {
    const ask = { recordsStep: true };
    const subgraph = new StateGraph(Asking)
      .addNode('first', async () => ({ log: [await step('call', () => 'first')] }))
      .addNode('ask', async ({ ok }) => {
        if (ask.recordsStep) await step('before', () => 'asked');
        if (!ok) throw new NodeInterrupt('Not yet.');
        return {};
      })
      .addEdge(START, 'first')
      .addEdge('first', 'ask')
      .compile();
    const app = durable(new StateGraph(Asking).addNode('outer', subgraph).addEdge(START, 'outer'), { db });
    await app.run('run', { ok: false });
    const config = await inner(app as never, 'run', { subgraphs: true });
    await expect(app.updateState('run', { ok: true }, { config, by: ada })).rejects.toMatchObject({
      code: 'UPDATE_REFUSED',
      context: { threadId: 'run', reason: 'in_hand' },
    });
    ask.recordsStep = false;
    await app.run('other', { ok: false });
    const there = await inner(app as never, 'other', { subgraphs: true });
    await app.updateState('other', { ok: true }, { config: there, by: ada });
    expect((await app.run('other')).values?.log).toEqual(['first']);
  });
});

describe('an update of the state is refused', () => {
  const refusal = (reason: string) => ({ code: 'UPDATE_REFUSED', context: { threadId: 'run', reason } });

  test('while a visit is in hand: what it has recorded would be done again', async ({ db }) => {
    const graph = twoSteps(undefined, async () => {
      const draft = await step('draft', () => 'paid for');
      return { answer: [draft, interrupt('Good?')] };
    });
    const app = durable(graph, { db });
    const gate = only((await app.run('run', {})).gates);
    const before = writesOn(db);
    await expect(app.updateState('run', { log: [] }, { by: ada })).rejects.toMatchObject(refusal('in_hand'));
    expect(writesOn(db)).toBe(before);
    await app.decide(gate, { value: 'yes', by: ada });
    expect(await app.run('run')).toMatchObject({ values: { answer: ['paid for', 'yes'] } });
  });

  test('while a branch beside has finished, or a graph inside a node has recorded a step', async ({ db }) => {
    const branches = durable(twoBranches(), { db, gates: { right: () => 'Go?' } });
    await branches.run('run', {});
    await expect(branches.updateState('run', { log: [] }, { by: ada })).rejects.toMatchObject(
      refusal('in_hand'),
    );

    const nested = durable(
      nestedAsking(async () => ({ log: [await step('draft', () => 'paid for')] })),
      { db, version: '2' },
    );
    await nested.run('nested', {});
    await expect(nested.updateState('nested', { ok: true }, { by: ada })).rejects.toMatchObject({
      context: { reason: 'in_hand' },
    });
  });

  test('while an answer has not been taken up, also one that comes in the meantime', async ({ db }) => {
    const app = gated(db);
    const gate = only((await app.run('run', {})).gates);
    const updating = app.updateState('run', { log: ['x'] }, { by: ada });
    await app.decide(gate, { approved: true, by: bob });
    await expect(updating).rejects.toMatchObject(refusal('answer_pending'));
    await expect(app.updateState('run', { log: ['x'] }, { by: ada })).rejects.toMatchObject(
      refusal('answer_pending'),
    );
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['first', 'second'] } });
  });

  test('before its next turn has begun', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.run('run', {}, { turn: 'm-1' });
    await app.start('run', { log: ['next'] }, { turn: 'm-2' });
    await expect(app.updateState('run', {}, { by: ada })).rejects.toMatchObject(refusal('not_begun'));
    await app.run('run');
    await app.updateState('run', { log: ['by hand'] }, { asNode: 'second', by: ada });
    expect((await app.values('run'))?.log).toEqual(['first', 'second', 'next', 'first', 'second', 'by hand']);
  });

  test('before it has begun, and once it was cancelled', async ({ db }) => {
    const app = gated(db);
    await internalsOf(app).recordRun({ threadId: 'run', input: {} });
    await expect(app.updateState('run', {}, { by: ada })).rejects.toMatchObject(refusal('not_begun'));
    await app.run('run');
    await app.cancel('run');
    await expect(app.updateState('run', {}, { by: ada })).rejects.toMatchObject(refusal('ended'));
  });

  test('while it is driven or held, and for what LangGraph does not take', async ({ db }) => {
    const app = durable(
      new StateGraph(
        Annotation.Root({ n: Annotation<number>({ reducer: (a, b) => a + b }), any: Annotation<unknown> }),
      )
        .addNode('one', () => ({ n: 1 }))
        .addNode('two', () => ({ n: 1 }))
        .addNode('end', () => ({}))
        .addEdge(START, 'one')
        .addEdge(START, 'two')
        .addConditionalEdges('one', ({ n }) => {
          if (n > 100) throw new Error('too much');
          return 'end';
        })
        .addEdge('end', END),
      { db, gates: { end: () => 'Go?' } },
    );
    await app.run('run', { n: 0 });
    await internalsOf(app).withLease('run', async () => {
      await expect(app.updateState('run', { n: 1 }, { asNode: 'one', by: ada })).rejects.toMatchObject({
        code: 'THREAD_BUSY',
      });
    });
    const before = writesOn(db);
    await expect(app.updateState('run', { n: 1 }, { by: ada })).rejects.toMatchObject({
      ...refusal('not_taken'),
      message: expect.stringContaining('Ambiguous update') as string,
    });
    await expect(app.updateState('run', { n: 1000 }, { asNode: 'one', by: ada })).rejects.toMatchObject({
      ...refusal('not_taken'),
      message: expect.stringContaining('too much') as string,
    });
    await expect(app.updateState('run', { any: () => 1 }, { asNode: 'two', by: ada })).rejects.toMatchObject({
      code: 'VALUE_NOT_STORABLE',
    });
    expect(writesOn(db)).toBe(before);
  });

  test('for whoever is no human, an unknown run, another graph, and what is no update', async ({ db }) => {
    const app = gated(db);
    await app.run('run', {});
    const changed = gated(db, '2');
    const before = writesOn(db);
    const by = ada;
    await expect(app.updateState('none', {}, { by })).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    await expect(changed.updateState('run', {}, { by })).rejects.toMatchObject({ code: 'GRAPH_CHANGED' });
    for (const [kind, code] of [
      ['agent', 'AGENT_MAY_NOT_DECIDE'],
      ['policy', 'POLICY_NOT_DECLARED'],
    ] as const) {
      await expect(app.updateState('run', {}, { by: { kind, id: 'x' } })).rejects.toMatchObject({ code });
    }
    const wrong: readonly unknown[] = [
      undefined,
      'text',
      [],
      new Command({ goto: 'second' }),
      { nowhere: 1 },
      { progressStep: 99 },
      { pendingSuspension: null },
      { __metadata__: {} },
      { log: [], __proto__: null, constructor: 1 },
    ];
    // @ts-expect-error: no channel of the graph
    const typo = () => app.updateState('run', { lgo: [] }, { by });
    await expect(typo()).rejects.toThrow('the graph has no channel "lgo"');
    // @ts-expect-error: somebody has to have done it
    const nobody = () => app.updateState('run', {}, {});
    await expect(nobody()).rejects.toThrow(TypeError);
    for (const values of wrong)
      await expect(app.updateState('run', values as never, { by })).rejects.toThrow(TypeError);
    for (const asNode of ['nobody', '__copy__', '__input__', '__end__', '__start__', 7]) {
      await expect(app.updateState('run', {}, { asNode: asNode as string, by })).rejects.toThrow(TypeError);
    }
    expect(writesOn(db)).toBe(before);
  });
});

test('of several updates at once each is made whole, or refused while another one is', async ({ db }) => {
  const app = durable(twoSteps(), { db, gates: { second: () => 'Go?' } });
  await app.run('run', {});
  const words = ['x', 'y', 'z', 'v', 'w'];
  const made = await Promise.allSettled(
    words.map((word) => app.updateState('run', { log: [word] }, { by: ada })),
  );
  for (const each of made) {
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'THREAD_BUSY' });
  }
  const taken = words.filter((_, at) => made[at]?.status === 'fulfilled');
  expect(taken.length).toBeGreaterThan(0);
  const { values } = await app.getState('run');
  expect([...values.log].sort()).toEqual(['first', ...taken].sort());
  expect(await app.getStateHistory('run', { filter: { source: 'update' } })).toHaveLength(taken.length);
});

test('a thrown interrupt takes no answer: the run fails, and a fork is updated with what it waits for', async ({
  db,
}) => {
  const build = nestedAsking(async () => ({ log: ['first'] }));
  const app = durable(build, { db });
  const gate = only((await app.run('run', { ok: false })).gates);
  await app.decide(gate, { value: 'yes', by: ada });
  await expect(app.run('run')).rejects.toMatchObject({ code: 'RUN_FAILED', cause: { code: 'NO_PROGRESS' } });
  await expect(app.updateState('run', { ok: true }, { by: ada })).rejects.toMatchObject({
    code: 'UPDATE_REFUSED',
    context: { reason: 'answer_pending' },
  });
  await app.fork('run', { as: 'fork', by: ada });
  await app.updateState('fork', { ok: true }, { by: ada });
  expect((await app.run('fork')).status).toBe('completed');
});
