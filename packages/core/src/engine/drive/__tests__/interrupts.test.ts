import { Annotation, Command, END, interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { ada, OwnState, says, twoBranches, twoSteps } from '../../__tests__/ownGraph.ts';
import type { GateAnswer } from '../../gates/Gate.ts';

const asking = (...question: Parameters<typeof interrupt>) =>
  twoSteps(() => ({ answer: interrupt(...question) }));

/** A subgraph of one node, as a node of a graph whose other node follows. */
function aroundSubgraph(inner: (state: typeof OwnState.State) => typeof OwnState.Update) {
  const sub = new StateGraph(OwnState)
    .addNode('inner', inner)
    .addEdge(START, 'inner')
    .addEdge('inner', END)
    .compile();
  return new StateGraph(OwnState)
    .addNode('outer', sub)
    .addNode('last', says('last'))
    .addEdge(START, 'outer')
    .addEdge('outer', 'last')
    .addEdge('last', END);
}

const decisionsIn = (db: Database): readonly string[] =>
  db.prepare<[], string>('SELECT decision_json FROM hitl_sessions ORDER BY rowid').pluck().all();

describe('what interrupt() returns', () => {
  test('is a no, where the human said no: nothing is done', async ({ db }) => {
    const builder = new StateGraph(OwnState)
      .addNode('ask', () => new Command({ goto: interrupt('do it?') ? 'do' : 'skip' }), {
        ends: ['do', 'skip'],
      })
      .addNode('do', says('done'))
      .addNode('skip', says('skipped'))
      .addEdge(START, 'ask')
      .addEdge('do', END)
      .addEdge('skip', END);
    const app = durable(builder, { db });
    const gate = only((await app.run('run', {})).gates);
    expect(gate).toMatchObject({ kind: 'interrupt', artifact: 'do it?' });
    await app.decide(gate, { value: false, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['skipped'] } });
  });

  test.for([
    [null],
    [false],
    [0],
    [''],
    ['yes'],
    [[]],
    [{}],
    [[{ type: 'edit', args: { action: 'mail', args: { to: 'ada' } } }]],
    [{ decisions: [{ type: 'approve' }, { type: 'reject', message: 'no' }] }],
    [{ approved: false }],
    [{ action: 'abort' }],
    [{ for: 'x', value: 1, sessionId: 'y' }],
  ] as const)('is what was decided, as it is: %j', async ([value], { db }) => {
    const app = durable(asking('what?'), { db });
    await app.decide(only((await app.run('run', {})).gates), { value, by: ada });
    const { status, values } = await app.run('run');
    expect(status).toBe('completed');
    expect(values?.answer).toEqual(value);
    expect(decisionsIn(db).map((json) => JSON.parse(json) as unknown)).toEqual([{ value }]);
  });

  test('may be asked for with nothing to show', async ({ db }) => {
    const app = durable(asking(undefined), { db });
    const gate = only((await app.run('run', {})).gates);
    expect(gate.artifact).toBeNull();
    await app.decide(gate, { value: 1, by: ada });
    expect((await app.run('run')).values?.answer).toBe(1);
  });

  test('is a value also where what is shown looks like a question of the engine', async ({ db }) => {
    const shown = { kind: 'interrupt', key: 'x', for: 'review' };
    const app = durable(asking(shown), { db });
    const gate = only((await app.run('run', {})).gates);
    expect(gate).toMatchObject({ kind: 'interrupt', artifact: shown });
    await app.decide(gate, { value: 'fine', by: ada });
    expect((await app.run('run')).values?.answer).toBe('fine');
  });
});

describe('an answer to interrupt() that is none', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);

  test.for([
    [{ approved: true }],
    [{ approved: false, feedback: 'no' }],
    [{}],
    [{ value: undefined }],
    [{ value: 1, more: 2 }],
    [{ value: deep(150) }],
  ] as const)('is refused, and the gate stays open', async ([answer], { db }) => {
    const app = durable(asking('what?'), { db });
    const gate = only((await app.run('run', {})).gates);
    await expect(app.decide(gate, { ...answer, by: ada } as GateAnswer)).rejects.toMatchObject({
      code: 'INVALID_ANSWER',
      remedy: expect.stringContaining('{ value: … }'),
    });
    await app.decide(gate, { value: 1, by: ada });
    expect((await app.run('run')).values?.answer).toBe(1);
  });

  test('is refused before it is recorded, where it does not fit the schema it was asked for by', async ({
    db,
  }) => {
    const responseSchema = z.object({ to: z.string(), copies: z.array(z.object({ n: z.int().min(1) })) });
    const app = durable(asking('mail it?', { responseSchema }), { db });
    const gate = only((await app.run('run', {})).gates);
    expect(gate.responseSchema).toMatchObject({ type: 'object', required: ['to', 'copies'] });
    const wrong = { to: 'ada', copies: [{ n: 1 }, { n: 0 }] };
    await expect(app.decide(gate, { value: wrong, by: ada })).rejects.toMatchObject({
      code: 'INVALID_ANSWER',
      message: expect.stringContaining('value.copies.1.n'),
    });
    expect((await app.run('run')).status).toBe('waiting');
    await app.decide(gate, { value: { to: 'ada', copies: [{ n: 1 }] }, by: ada });
    expect((await app.run('run')).values?.answer).toEqual({ to: 'ada', copies: [{ n: 1 }] });
  });

  test('is refused by a schema that is JSON, too', async ({ db }) => {
    const responseSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const app = durable(asking('fine?', { responseSchema } as never), { db });
    const gate = only((await app.run('run', {})).gates);
    await expect(app.decide(gate, { value: { ok: 'yes' }, by: ada })).rejects.toMatchObject({
      message: expect.stringContaining('value.ok'),
    });
    await app.decide(gate, { value: { ok: true }, by: ada });
    expect((await app.run('run')).values?.answer).toEqual({ ok: true });
  });
});

describe('several interrupts', () => {
  const both = () => ({ log: [`${interrupt('first?')}`, `${interrupt('second?')}`] });

  test.for([
    ['in a node', twoSteps(both, says('last'))],
    ['in a subgraph', aroundSubgraph(both)],
  ] as const)('one after another %s take one answer each, also equal ones', async ([, builder], { db }) => {
    const app = durable(builder as ReturnType<typeof twoSteps>, { db });
    await app.decide(only((await app.run('run', {})).gates), { value: 'yes', by: ada });
    const second = only((await app.run('run')).gates);
    expect(second.artifact).toBe('second?');
    await app.decide(second, { value: 'yes', by: ada });
    expect((await app.run('run')).values?.log).toEqual(expect.arrayContaining(['yes', 'yes', 'last']));
  });

  test.for([['in a node'], ['in a subgraph']] as const)(
    'never take the answer of the one before, after the node failed in between: %s',
    async ([where], { db }) => {
      let isBroken = true;
      const node = () => {
        const first = interrupt('first?');
        if (isBroken) throw new Error('broken');
        return { log: [`${first}`, `${interrupt('second?')}`] };
      };
      const builder = where === 'in a node' ? twoSteps(node, says('last')) : aroundSubgraph(node);
      const app = durable(builder as ReturnType<typeof twoSteps>, { db });
      await app.decide(only((await app.run('run', {})).gates), { value: 'yes', by: ada });
      expect((await app.run('run', undefined, { throwOnFailure: false })).status).toBe('failed');
      expect((await app.run('run', undefined, { throwOnFailure: false })).status).toBe('failed');
      isBroken = false;
      const waiting = await app.run('run');
      expect(waiting).toMatchObject({ status: 'waiting', gates: [{ artifact: 'second?' }] });
      await app.decide(only(waiting.gates), { value: 'no', by: ada });
      expect((await app.run('run')).values?.log).toEqual(expect.arrayContaining(['yes', 'no', 'last']));
    },
  );

  test('in parallel branches of a subgraph are answered in any order', async ({ db }) => {
    const sub = twoBranches(
      () => ({ log: [`left ${interrupt('left?')}`] }),
      () => ({ log: [`right ${interrupt('right?')}`] }),
      () => ({}),
    ).compile();
    const builder = new StateGraph(OwnState)
      .addNode('outer', sub)
      .addEdge(START, 'outer')
      .addEdge('outer', END);
    const app = durable(builder, { db });
    const { gates } = await app.run('run', {});
    const right = gates.find(({ artifact }) => artifact === 'right?');
    const left = gates.find(({ artifact }) => artifact === 'left?');
    if (left === undefined || right === undefined) throw new Error('both ask');
    await app.decide(right, { value: 1, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'waiting', gates: [{ artifact: 'left?' }] });
    await app.decide(left, { value: 2, by: ada });
    expect((await app.run('run')).values?.log).toEqual(expect.arrayContaining(['left 2', 'right 1']));
  });

  test('in the branches of a fan-out keep their own answers', async ({ db }) => {
    const builder = new StateGraph(OwnState)
      .addNode('each', ({ answer }: { answer: number }) => ({ log: [`${answer}=${interrupt(answer)}`] }))
      .addConditionalEdges(START, () => [1, 2, 3].map((answer) => new Send('each', { answer })))
      .addEdge('each', END);
    const app = durable(builder, { db });
    const { gates } = await app.run('run', {});
    for (const gate of gates.toReversed()) {
      await app.decide(gate, { value: Number(gate.artifact) * 10, by: ada });
      await app.run('run');
    }
    expect((await app.run('run')).values?.log).toEqual(['1=10', '2=20', '3=30']);
  });

  test("in a subgraph's loop ask once per round", async ({ db }) => {
    const Rounds = Annotation.Root({
      log: Annotation<readonly string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
      round: Annotation<number>(),
    });
    const sub = new StateGraph(Rounds)
      .addNode('turn', ({ round = 0 }) => ({ round: round + 1, log: [`${round}: ${interrupt('again?')}`] }))
      .addEdge(START, 'turn')
      .addConditionalEdges('turn', ({ round }) => (round < 3 ? 'turn' : END))
      .compile();
    const builder = new StateGraph(Rounds)
      .addNode('outer', sub)
      .addEdge(START, 'outer')
      .addEdge('outer', END);
    const app = durable(builder, { db });
    let result = await app.run('run', {});
    for (const value of ['a', 'a', 'b']) {
      await app.decide(only(result.gates), { value, by: ada });
      result = await app.run('run');
    }
    expect(result).toMatchObject({ status: 'completed', values: { log: ['0: a', '1: a', '2: b'] } });
  });
});
