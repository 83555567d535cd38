import { Annotation, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { ada } from '../../src/engine/__tests__/ownGraph.ts';
import type { Gate } from '../../src/engine/gates/Gate.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';

const State = Annotation.Root({
  item: Annotation<string>(),
  price: Annotation<number>(),
  sold: Annotation<string>(),
});
const Price = z.object({ cents: z.int().positive(), note: z.string().default('none') });
const Even = Price.refine(({ cents }) => cents % 2 === 0, { error: 'Odd', path: ['cents'] });

const graph = new StateGraph(State)
  .addNode('sell', ({ item, price }) => ({ sold: `${item} for ${price}` }))
  .addEdge(START, 'sell');

const selling = (db: Database, answer: z.ZodType<z.output<typeof Price>> = Price) =>
  durable(graph, {
    db,
    gates: {
      sell: { show: ({ item }) => item, answer, onAnswer: (_state, { cents }) => ({ price: cents }) },
    },
  });

const decided = (db: Database): unknown => db.prepare('SELECT count(*) FROM hitl_decisions').pluck().get();

describe('a gate that asks for a value', () => {
  test('says which, and hands it to the node', async ({ db }) => {
    const app = selling(db);
    const gate = only((await app.run('run', { item: 'Lamp' })).gates);
    expect(gate.takes).toEqual({ gate: 'sell', value: true });
    expect(gate.responseSchema).toMatchObject({ type: 'object', properties: { cents: { type: 'integer' } } });
    const { decision } = await app.decide(gate, { value: { cents: 700 }, by: ada });
    expect(decision).toEqual({ value: { cents: 700 } });
    expect((await selling(db).run('run')).values).toEqual({ item: 'Lamp', price: 700, sold: 'Lamp for 700' });
  });

  test('is the only one that takes one', async ({ db }) => {
    const app = durable(graph, { db, gates: { sell: { show: ({ item }) => item } } });
    const gate = only((await app.run('run', { item: 'Lamp' })).gates);
    for (const answer of [{ value: { cents: 7 } }, { edit: 'Lamp' }])
      await expect(app.decide(gate, { ...answer, by: ada } as never)).rejects.toMatchObject({
        code: 'INVALID_ANSWER',
      });
    expect([await app.gates('run'), decided(db)]).toEqual([[gate], 0]);
  });

  test.for([
    ['a yes', { approved: true }],
    ['another type', { value: { cents: 'seven' } }],
    ['a wrong number', { value: { cents: -7 } }],
    ['nothing', { value: undefined }],
    ['a version', { edit: { cents: 7 } }],
    ['a value and a yes', { value: { cents: 7 }, approved: true }],
  ] as const)('refuses %s before anything is written', async ([, answer], { db }) => {
    const app = selling(db);
    const gate = only((await app.run('run', { item: 'Lamp' })).gates);
    await expect(app.decide(gate, { ...answer, by: ada } as never)).rejects.toMatchObject({
      code: 'INVALID_ANSWER',
    });
    expect([await app.gates('run'), decided(db)]).toEqual([[gate], 0]);
    await app.decide(gate, { value: { cents: 2 }, by: ada });
    expect((await app.run('run')).status).toBe('completed');
  });

  test('names the place in a value that does not fit, and not what is there', async ({ db }) => {
    const app = selling(db, Even);
    const gate = only((await app.run('run', { item: 'Lamp' })).gates);
    const refused = await app
      .decide(gate, { value: { cents: 7919 }, by: ada })
      .catch((error: Error) => error.message);
    expect(refused).toContain('value.cents: Odd');
    expect(refused).not.toContain('7919');
  });

  test('asks again for a value that only its program refuses, when another process took it', async ({
    db,
    dbPath,
  }) => {
    const gate = only((await selling(db, Even).run('run', { item: 'Lamp' })).gates);
    const other = createDatabase({ dbPath });
    const elsewhere = durable(graph, { db: other, gates: { sell: ({ item }) => item } });
    const decide = ({ sessionId, artifactHash }: Gate, cents: unknown) =>
      elsewhere.decide({ sessionId, artifactHash }, { value: { cents }, by: ada });
    await expect(decide(gate, 'seven')).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    await decide(gate, 7);
    const again = only((await selling(db, Even).run('run')).gates);
    expect(again).toMatchObject({ artifact: 'Lamp', takes: { value: true } });
    await decide(again, 8);
    expect((await selling(db, Even).run('run')).values?.price).toBe(8);
    other.close();
  });

  test('takes a no, which is no value', async ({ db }) => {
    const app = selling(db);
    const gate = only((await app.run('run', { item: 'Lamp' })).gates);
    await expect(app.decide(gate, { approved: false, by: ada })).rejects.toMatchObject({
      code: 'FEEDBACK_REQUIRED',
    });
    await app.decide(gate, { approved: false, feedback: 'not for sale', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'cancelled', reason: 'rejected: not for sale' });
  });

  test('that was asked for a yes by an earlier program is left to that program', async ({ db }) => {
    const earlier = durable(graph, { db, gates: { sell: ({ item }) => item } });
    const gate = only((await earlier.run('run', { item: 'Lamp' })).gates);
    await expect(selling(db).run('run')).rejects.toThrow('takes another form of answer');
    await earlier.decide(gate, { approved: true, by: ada });
    await expect(selling(db).run('run')).rejects.toMatchObject({ code: 'GRAPH_CHANGED' });
    expect((await earlier.run('run')).status).toBe('completed');
  });

  test('of any Standard Schema, whose values only its program can judge', async ({ db }) => {
    const standard = {
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: (value: unknown) =>
          typeof value === 'number'
            ? { value }
            : { issues: [{ message: 'No number', path: [{ key: 'at' }] }] },
      },
    } as const;
    const gates = {
      sell: {
        show: ({ item }: typeof State.State) => item,
        answer: standard,
        onAnswer: (_: typeof State.State, price: number) => ({ price }),
      },
    };
    const app = durable(graph, { db, gates });
    const gate = only((await app.run('run', { item: 'Lamp' })).gates);
    expect(gate.responseSchema).toBeUndefined();
    await expect(app.decide(gate, { value: 'x', by: ada })).rejects.toThrow('value.at: No number');
    await app.decide(gate, { value: 7, by: ada });
    expect((await app.run('run')).values?.price).toBe(7);
  });
});

describe('a declaration that is none', () => {
  test.for([
    ['no function', { show: 'draft' }],
    ['no function to edit by', { show: () => 1, edit: 'draft' }],
    ['no schema', { show: () => 1, answer: 'number' }],
    ['an answer without its schema', { show: () => 1, onAnswer: () => ({}) }],
    ['several who approve a version', { show: () => 1, edit: () => ({}), approvals: { count: 2 } }],
    ['several who approve a value', { show: () => 1, answer: z.string(), approvals: { count: 2 } }],
    ['nothing', null],
  ])('is refused when the program starts: %s', ([, gate], { db }) => {
    expect(() => durable(graph, { db, gates: { sell: gate as never } })).toThrow(TypeError);
  });

  test('is a schema that takes its time', async ({ db }) => {
    const slow = z.string().refine(async () => true);
    const app = durable(graph, { db, gates: { sell: { show: () => 'who?', answer: slow } } });
    const gate = only((await app.run('run', { item: 'Lamp' })).gates);
    await expect(app.decide(gate, { value: 'x', by: ada })).rejects.toThrow(TypeError);
    expect(decided(db)).toBe(0);
  });
});
