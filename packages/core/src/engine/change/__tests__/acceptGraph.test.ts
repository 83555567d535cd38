import { END, interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { ada, type Own, OwnState, type OwnUpdate, says } from '../../__tests__/ownGraph.ts';
import { type DurableOptions, durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';

type Node = (state: Own) => OwnUpdate | Promise<OwnUpdate>;
type Options = Pick<DurableOptions<Own>, 'gates' | 'version'>;

const approve = { approved: true, by: ada } as const;

/** One node under a name that differs between the programs. */
function single(db: Database, name: string, node: Node, options: Options = {}) {
  const builder = new StateGraph(OwnState) as unknown as StateGraph<unknown, Own, OwnUpdate, string>;
  builder.addNode(name, node as never);
  builder.addEdge(START, name);
  builder.addEdge(name, END);
  return durable(builder, { db, ...options });
}

/** `left` and `right` beside each other, and a node that waits for both. */
function joined(db: Database, left: string, join: string, options: Options = {}) {
  const builder = new StateGraph(OwnState) as unknown as StateGraph<unknown, Own, OwnUpdate, string>;
  builder.addNode(left, says('left') as never);
  builder.addNode('right', says('right') as never);
  builder.addNode(join, says('join') as never);
  builder.addEdge(START, left);
  builder.addEdge(START, 'right');
  builder.addEdge([left, 'right'], join);
  return durable(builder, { db, ...options });
}

const renamed = (from: string, to: string) => ({ by: ada, renamed: { nodes: { [from]: to } } });

describe('an answer', () => {
  const asksTwice: Node = async () => {
    const first = interrupt<unknown, boolean>('first');
    const paid = await step('pay', () => 'paid');
    const second = interrupt<unknown, boolean>('second');
    return { log: [paid], answer: [first, second] };
  };

  test('given to the first of two questions is not asked for again, and the second is still open', async ({
    db,
  }) => {
    const before = single(db, 'old', asksTwice);
    await before.decide(only((await before.run('run', {})).gates), { value: true, by: ada });
    const second = only((await before.run('run')).gates);
    const now = single(db, 'new', asksTwice);
    await now.acceptGraph('run', renamed('old', 'new'));
    expect(only(await now.gates('run')).sessionId).toBe(second.sessionId);
    expect(only((await now.run('run')).gates).sessionId).toBe(second.sessionId);
    await now.decide(second, { value: true, by: ada });
    expect(await now.run('run')).toMatchObject({
      status: 'completed',
      values: { log: ['paid'], answer: [true, true] },
    });
  });

  test('to a question that shows something else now does not count', async ({ db }) => {
    const before = single(db, 'old', says('done'), { gates: { old: () => 'the old words' } });
    await before.decide(only((await before.run('run', {})).gates), approve);
    const now = single(db, 'new', says('done'), { gates: { new: () => 'other words' } });
    await now.acceptGraph('run', renamed('old', 'new'));
    const gate = only((await now.run('run')).gates);
    expect(gate.artifact).toBe('other words');
    await now.decide(gate, approve);
    expect(await now.run('run')).toMatchObject({ status: 'completed', values: { log: ['done'] } });
  });

  test('that was not given yet is asked for anew when the question shows something else', async ({ db }) => {
    const before = single(db, 'old', says('done'), { gates: { old: () => 'the old words' } });
    const stale = only((await before.run('run', {})).gates);
    const now = single(db, 'new', says('done'), { gates: { new: () => 'other words' } });
    await now.acceptGraph('run', renamed('old', 'new'));
    expect(only((await now.run('run')).gates).artifact).toBe('other words');
    await expect(now.decide(stale, approve)).rejects.toThrow(expect.objectContaining({ code: 'GATE_STALE' }));
  });

  test('no ends the run under the new name too', async ({ db }) => {
    const gate = () => 'words';
    const before = single(db, 'old', says('done'), { gates: { old: gate } });
    const asked = only((await before.run('run', {})).gates);
    await before.decide(asked, { approved: false, feedback: 'not yet', by: ada });
    const now = single(db, 'new', says('done'), { gates: { new: gate } });
    await now.acceptGraph('run', renamed('old', 'new'));
    expect(await now.run('run')).toMatchObject({ status: 'cancelled', reason: 'rejected: not yet' });
  });
});

describe('parallel branches', () => {
  test('one has ended and one waits: its output is kept, the join under its new names runs once', async ({
    db,
  }) => {
    const gates = { right: () => 'right?' };
    const before = joined(db, 'left', 'join', { gates });
    const gate = only((await before.run('run', {})).gates);
    const now = joined(db, 'links', 'end', { gates });
    await now.acceptGraph('run', { by: ada, renamed: { nodes: { left: 'links', join: 'end' } } });
    await now.decide(gate, approve);
    expect(await now.run('run')).toMatchObject({
      status: 'completed',
      values: { log: ['left', 'right', 'join'] },
    });
  });

  test('a join that has seen one of its nodes is seen by the new names', async ({ db }) => {
    const slow = (start: string, left: string) => {
      const builder = new StateGraph(OwnState) as unknown as StateGraph<unknown, Own, OwnUpdate, string>;
      for (const name of [start, left, 'detour', 'right', 'join']) builder.addNode(name, says(name) as never);
      builder.addEdge(START, start);
      builder.addEdge(start, left);
      builder.addEdge(start, 'detour');
      builder.addEdge('detour', 'right');
      builder.addEdge([left, 'right'], 'join');
      return durable(builder, { db, gates: { right: () => 'right?' } });
    };
    const gate = only((await slow('start', 'left').run('run', {})).gates);
    const now = slow('begin', 'links');
    await now.acceptGraph('run', { by: ada, renamed: { nodes: { left: 'links', start: 'begin' } } });
    await now.decide(gate, approve);
    const { values } = await now.run('run');
    expect(values?.log).toEqual(['start', 'detour', 'left', 'right', 'join']);
  });

  test('made by Send are not given another name', async ({ db }) => {
    const fanOut = (worker: string) => {
      const builder = new StateGraph(OwnState) as unknown as StateGraph<unknown, Own, OwnUpdate, string>;
      builder.addNode('plan', says('plan') as never);
      builder.addNode(worker, (() => ({ answer: interrupt('well?') })) as never);
      builder.addEdge(START, 'plan');
      builder.addConditionalEdges('plan' as never, () => [new Send(worker, { log: [] })]);
      return durable(builder, { db });
    };
    await fanOut('worker').run('run', {});
    const refused = { code: 'GRAPH_NOT_ACCEPTED', context: { reason: 'pending_visit' } };
    const now = fanOut('crew');
    await expect(now.acceptGraph('run', renamed('worker', 'crew'))).rejects.toMatchObject(refused);
  });
});

test('a run that failed is tried again under the new names', async ({ db }) => {
  let fails = true;
  const node: Node = async () => {
    const paid = await step('pay', () => 'paid');
    if (fails) throw new Error('no');
    return { log: [paid] };
  };
  const before = single(db, 'old', node);
  expect((await before.run('run', {}, { throwOnFailure: false })).status).toBe('failed');
  fails = false;
  const now = single(db, 'new', node);
  await now.acceptGraph('run', renamed('old', 'new'));
  expect(await now.run('run')).toMatchObject({ status: 'completed', values: { log: ['paid'] } });
});

test('a run that another process drives cannot be given another graph', async ({ db }) => {
  const before = single(db, 'old', says('done'), { gates: { old: () => 'words' } });
  await before.run('run', {});
  const now = single(db, 'new', says('done'), { gates: { new: () => 'words' } });
  internalsOf(now).store.threads.claim('run');
  await expect(now.acceptGraph('run', renamed('old', 'new'))).rejects.toMatchObject({ code: 'THREAD_BUSY' });
});
