import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { ada, type Own, OwnState } from '../../src/engine/__tests__/ownGraph.ts';
import type { GateOf } from '../../src/engine/gates/DeclaredGate.ts';
import type { DeclaredGate } from '../../src/langgraph.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';

const Inner = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  draft: Annotation<string>(),
});
type Inside = typeof Inner.State;

interface Work {
  publish: (state: Inside) => Partial<Inside>;
}

const publishes: Work = { publish: ({ draft }) => ({ log: [`published ${draft}`] }) };

const inside = ({ publish }: Work) =>
  new StateGraph(Inner)
    .addNode('write', () => ({ draft: 'Helo', log: ['written'] }))
    .addNode('publish', publish)
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END)
    .compile();

const outside = (work: Work) =>
  new StateGraph(OwnState).addNode('sub', inside(work)).addEdge(START, 'sub').addEdge('sub', END);

const outmost = (work: Work) =>
  new StateGraph(OwnState).addNode('outer', outside(work).compile()).addEdge(START, 'outer');

const gated = (db: Database, gate: GateOf<Inside>, work: Work = publishes) =>
  durable(outside(work), { db, gates: { 'sub:publish': gate } });

const draft = ({ draft: shown }: Inside) => shown;

describe('a gate before a node of a subgraph', () => {
  test('asks there, and the node runs once it is approved', async ({ db }) => {
    const app = gated(db, draft);
    const gate = only((await app.run('run', {})).gates);
    expect(gate).toMatchObject({
      kind: 'node_gate',
      artifact: 'Helo',
      message: 'Approve before "publish" runs.',
    });
    await app.decide(gate, { approved: true, by: ada });
    const { status, values } = await gated(db, draft).run('run');
    expect([status, values?.log]).toEqual(['completed', ['written', 'published Helo']]);
  });

  test('at any depth', async ({ db }) => {
    const gates = { 'outer:sub:publish': draft };
    const app = durable(outmost(publishes), { db, gates });
    const gate = only((await app.run('run', {})).gates);
    await app.decide(gate, { approved: true, by: ada });
    const { values } = await durable(outmost(publishes), { db, gates }).run('run');
    expect(values?.log).toEqual(['written', 'published Helo']);
  });

  test('ends the run with a no, or takes it', async ({ db }) => {
    const app = gated(db, draft);
    await app.decide(only((await app.run('run', {})).gates), { approved: false, feedback: 'Typo.', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'cancelled', reason: 'rejected: Typo.' });
    const taking = gated(db, { show: draft, onReject: (_state, feedback) => ({ log: [`no: ${feedback}`] }) });
    await taking.decide(only((await taking.run('other', {})).gates), {
      approved: false,
      feedback: 'Typo.',
      by: ada,
    });
    expect((await taking.run('other')).values?.log).toEqual(['written', 'no: Typo.']);
  });

  test('takes a version, which the node is given and the state has once', async ({ db }) => {
    const edit: DeclaredGate<Inside>['edit'] = (_state, text) => ({ draft: String(text), log: ['edited'] });
    const app = gated(db, { show: draft, edit });
    await app.decide(only((await app.run('run', {})).gates), { edit: 'Hello', by: ada });
    expect((await app.run('run')).values?.log).toEqual(['written', 'edited', 'published Hello']);
  });

  test('is not asked where it shows nothing, and stays asked once it was', async ({ db }) => {
    expect((await gated(db, () => undefined).run('easy', {})).status).toBe('completed');
    const gate = only((await gated(db, draft).run('run', {})).gates);
    const today = gated(db, () => undefined, {
      publish: () => ({ log: [`sure: ${String(interrupt('sure?'))}`] }),
    });
    expect((await today.run('run')).gates).toEqual([gate]);
    await today.decide(gate, { approved: true, by: ada });
    const asked = only((await today.run('run')).gates);
    expect(asked.artifact).toBe('sure?');
    await today.decide(asked, { value: 'yes', by: ada });
    expect((await today.run('run')).values?.log).toEqual(['written', 'sure: yes']);
  });

  test('keeps its answer when its node fails, and gives it to nothing else', async ({ db }) => {
    let fails = 1;
    const work: Work = {
      publish: () => {
        const answer = fails > 0 ? 'not asked' : interrupt('sure?');
        fails -= 1;
        if (fails >= 0) throw new Error('The press is jammed.');
        return { log: [`sure: ${String(answer)}`] };
      },
    };
    const app = gated(db, draft, work);
    await app.decide(only((await app.run('run', {})).gates), { approved: true, by: ada });
    expect((await app.run('run', undefined, { throwOnFailure: false })).status).toBe('failed');
    const asked = only((await gated(db, draft, work).run('run')).gates);
    expect(asked).toMatchObject({ kind: 'interrupt', artifact: 'sure?' });
    await app.decide(asked, { value: 'yes', by: ada });
    expect((await app.run('run')).values?.log.at(-1)).toBe('sure: yes');
  });

  test('asks again about what it shows now', async ({ db }) => {
    const gate = only((await gated(db, draft).run('run', {})).gates);
    await gated(db, draft).decide(gate, { approved: true, by: ada });
    const today = gated(db, ({ log }) => log);
    const again = only((await today.run('run')).gates);
    expect(again.artifact).toEqual(['written']);
    await today.decide(again, { approved: true, by: ada });
    expect((await today.run('run')).status).toBe('completed');
  });

  test('beside another one, with an answer each', async ({ db }) => {
    const both = new StateGraph(Inner)
      .addNode('left', () => ({ log: ['left'] }))
      .addNode('right', () => ({ log: ['right'] }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .compile();
    const graph = new StateGraph(OwnState).addNode('sub', both).addEdge(START, 'sub');
    const onReject = () => ({ log: ['not left'] });
    const app = durable(graph, {
      db,
      gates: { 'sub:left': { show: () => 'left', onReject }, 'sub:right': () => 'right' },
    });
    const { gates } = await app.run('run', {});
    const [left, right] = ['left', 'right'].map((name) =>
      only(gates.filter(({ artifact }) => artifact === name)),
    );
    if (left === undefined || right === undefined) throw new RangeError('Expected two gates.');
    await app.decide(right, { approved: true, by: ada });
    expect((await app.run('run')).gates).toEqual([left]);
    await app.decide(left, { approved: false, feedback: 'no', by: ada });
    expect((await app.run('run')).values?.log).toEqual(['not left', 'right']);
  });

  test('is part of the graph a run was started on', async ({ db }) => {
    await gated(db, draft).run('run', {});
    const without = durable(outside(publishes), { db });
    await expect(without.run('run')).rejects.toMatchObject({
      code: 'GRAPH_CHANGED',
      message: expect.stringContaining('node "sub:publish" asks nothing, previously for node_gate'),
    });
    await expect(without.acceptGraph('run', { by: ada })).rejects.toMatchObject({
      code: 'GRAPH_NOT_ACCEPTED',
    });
  });

  test('leaves the graph of its author as it is', async ({ db }) => {
    const graph = outside(publishes);
    durable(graph, { db, gates: { 'sub:publish': draft } });
    const { log } = await graph.compile().invoke({});
    expect(log).toEqual(['written', 'published Helo']);
  });
});

describe('a gate inside that cannot be is refused when the program starts', () => {
  const calling = (graph: ReturnType<typeof inside>) =>
    new StateGraph(OwnState)
      .addNode('sub', async () => ({ log: (await graph.invoke({})).log }), { subgraphs: [graph] })
      .addEdge(START, 'sub');

  test('in a graph that a function calls, that keeps nothing, or that has no such node', ({ db }) => {
    const start = (graph: ReturnType<typeof calling>, path: string) => () =>
      durable(graph, { db, gates: { [path]: () => 1 } as Record<string, (state: Own) => unknown> });
    expect(start(calling(inside(publishes)), 'sub:publish')).toThrow(
      'it is not a graph that was added as a node',
    );
    const forgetful = inside(publishes);
    forgetful.checkpointer = false;
    const added = new StateGraph(OwnState).addNode('sub', forgetful).addEdge(START, 'sub') as never;
    expect(start(added, 'sub:publish')).toThrow('checkpointer: false');
    expect(start(outside(publishes) as never, 'sub:publsh')).toThrow(
      'Cannot add a gate before "publsh" in "sub"',
    );
    expect(start(outside(publishes) as never, 'sub:publish:deeper')).toThrow(
      'inside "sub:publish": it is not a graph',
    );
    expect(start(outside(publishes) as never, 'nowhere:publish')).toThrow(
      'Cannot add a gate before "nowhere"',
    );
  });
});
