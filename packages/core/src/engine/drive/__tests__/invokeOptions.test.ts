import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { type LangGraphRunnableConfig, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { ada, OwnState } from '../../__tests__/ownGraph.ts';
import type { RunOptions } from '../../file/RunOptions.ts';
import { step } from '../../node/step.ts';

const Context = z.object({ tenant: z.string(), limits: z.object({ mails: z.number() }).optional() });
const context = { tenant: 'acme', limits: { mails: 3 } };
const given = { context, configurable: { region: 'eu' }, tags: ['nightly'], metadata: { from: 'a test' } };

type Config = LangGraphRunnableConfig<z.infer<typeof Context>>;

/** What a node can read of what the run was given. */
const told = ({ context, configurable, metadata, tags }: Config) =>
  JSON.stringify({ context, region: Object(configurable).region as unknown, from: metadata?.['from'], tags });

function tellingGraph() {
  return new StateGraph(OwnState, Context)
    .addNode('first', (_state, config: Config) => ({ log: [told(config)] }))
    .addNode('second', (_state, config: Config) => ({ log: [told(config)] }))
    .addEdge(START, 'first')
    .addEdge('first', 'second');
}

const appOf = (db: Database) => durable(tellingGraph().compile({ interruptBefore: ['second'] }), { db });

/** Rows of every table that a run writes to. */
function rowsIn(db: Database): number {
  const counts = ['threads', 'thread_inputs', 'checkpoints', 'events'].map(
    (table) => db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0,
  );
  return counts.reduce((sum, n) => sum + n, 0);
}

describe('what a run is given', () => {
  test('reaches its nodes as by LangGraph alone, also where another process goes on', async ({
    db,
    dbPath,
  }) => {
    const plain = tellingGraph().compile({ checkpointer: new MemorySaver() });
    const { configurable, ...others } = given;
    const expected = await plain.invoke(
      {},
      { ...others, configurable: { ...configurable, thread_id: 'plain' } },
    );

    const { gates } = await appOf(db).run('run', {}, given);
    await appOf(db).decide(only(gates), { value: true, by: ada });
    const other = createDatabase({ dbPath });
    const { status, values } = await appOf(other).run('run');
    other.close();
    expect({ status, log: values?.log }).toEqual({ status: 'completed', log: expected.log });
    expect(expected.log[1]).toContain('"tenant":"acme"');
  });

  test('is refused under a known id where it differs, and changes nothing', async ({ db }) => {
    const app = appOf(db);
    await app.run('run', {}, given);
    const before = rowsIn(db);
    const refused = { code: 'INPUT_NOT_TAKEN', message: expect.stringContaining('different context') };
    await expect(app.run('run', {}, { context: { tenant: 'other' } })).rejects.toMatchObject(refused);
    await expect(app.run('run', undefined, { context: { tenant: 'other' } })).rejects.toMatchObject(refused);
    await expect(app.run('run', {}, { tags: [] })).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
    expect(rowsIn(db)).toBe(before);
    for (const same of [given, { context }, {}]) {
      expect(await app.run('run', {}, structuredClone(same))).toMatchObject({ status: 'waiting' });
    }
    await app.run('without', {}, { context });
    await expect(app.run('without', {}, given)).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
  });

  test('is refused before anything is written where it cannot be taken', async ({ db }) => {
    const app = appOf(db);
    const reserved = ['thread_id', 'checkpoint_id', 'checkpoint_ns', '__pregel_resuming', 'lease_epoch'];
    for (const name of reserved) {
      await expect(app.run('run', {}, { context, configurable: { [name]: 'x' } })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(name),
      });
    }
    const unstorable = app.run('run', {}, { context, metadata: { call: () => {} } });
    await expect(unstorable).rejects.toMatchObject({ code: 'VALUE_NOT_STORABLE' });
    await expect(app.run('run', {}, { context: { tenant: 7 } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    await expect(app.run('run', {})).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(app.run('run', undefined, given)).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    await expect(app.run('run', {}, { tags: 'nightly' } as unknown as RunOptions)).rejects.toThrow(TypeError);
    await expect(app.run('run', {}, { context: [] })).rejects.toThrow(TypeError);
    expect(rowsIn(db)).toBe(0);
  });

  test('does not leak between a run and the one a node of it drives', async ({ db }) => {
    const inner = durable(tellingGraph(), { db });
    const outer = durable(
      new StateGraph(OwnState)
        .addNode('only', async () => ({
          log: (await inner.run('inner', {}, { context: { tenant: 'i' } })).values?.log ?? [],
        }))
        .addEdge(START, 'only'),
      { db },
    );
    const { values } = await outer.run('outer', {}, { tags: ['outer'], metadata: { from: 'outside' } });
    expect(values?.log).toHaveLength(2);
    expect(values?.log.join()).not.toMatch(/outer|outside/);
  });
});

class Telling extends BaseCallbackHandler {
  readonly name = 'telling';
  readonly heard: string[] = [];
  override readonly awaitHandlers = true;

  override handleChainStart(...args: Parameters<NonNullable<BaseCallbackHandler['handleChainStart']>>): void {
    this.heard.push(`start ${String(args[7])} ${args[5]?.['from'] ?? ''}`);
  }
  override handleChainEnd(): void {
    this.heard.push('end');
  }
}

/** Throws at a node's end, as a handler that its author wants to be heard. */
class Throwing extends BaseCallbackHandler {
  readonly name = 'throwing';
  override readonly raiseError = true;
  override readonly awaitHandlers = true;

  override handleChainEnd(): void {
    throw new Error('the handler fell over');
  }
}

describe('callbacks', () => {
  test('hear what they hear by LangGraph alone, on the drive they were given for', async ({ db }) => {
    const plain = new Telling();
    const graph = tellingGraph().compile();
    await graph.invoke({}, { context, metadata: given.metadata, callbacks: [plain] });
    const own = new Telling();
    const app = durable(tellingGraph(), { db });
    await app.run('run', {}, { context, metadata: given.metadata, callbacks: [own] });
    expect(own.heard).toEqual(plain.heard);
    expect(plain.heard).toContain('start first a test');

    const later = new Telling();
    const stopping = appOf(db);
    const { gates } = await stopping.run('later', {}, { context, callbacks: [own] });
    await stopping.decide(only(gates), { value: true, by: ada });
    own.heard.length = 0;
    await stopping.run('later', undefined, { callbacks: [later] });
    expect(own.heard).toEqual([]);
    expect(later.heard.join()).toContain('start second');
  });

  test('that throw end a drive at most: the run goes on, and no call is made twice', async ({ db }) => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {}); // LangChain tells of it
    const calls: string[] = [];
    const call = (name: string) => {
      calls.push(name);
      return name;
    };
    const node = (name: string) => async () => ({ log: [await step(name, () => call(name))] });
    const builder = new StateGraph(OwnState)
      .addNode('first', node('first'))
      .addNode('second', node('second'))
      .addEdge(START, 'first')
      .addEdge('first', 'second');
    const app = durable(builder, { db });
    const failed = await app.run('run', {}, { throwOnFailure: false, callbacks: [new Throwing()] });
    expect(failed).toMatchObject({ status: 'failed', reason: 'the handler fell over' });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['first', 'second'] } });
    expect(calls).toEqual(['first', 'second']);
    expect(printed).toHaveBeenCalled();
    printed.mockRestore();
  });
});
