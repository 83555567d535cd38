import { type LangGraphRunnableConfig, MemorySaver } from '@langchain/langgraph';
import { InMemoryStore } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { durable } from '../../src/engine/app/durable.ts';
import type { RunResult } from '../../src/engine/drive/RunResult.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { type StepFunction, step } from '../../src/engine/node/step.ts';
import { child, sleep } from '../../src/engine/node/waitFor.ts';
import { isDevsError } from '../../src/errors/DevsError.ts';
import { SkippingClock } from '../../src/testing/TestApp.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import {
  type App,
  type Builder,
  handledBy,
  type Mistake,
  type Node,
  oneNode,
  withOptions,
} from './graphs.ts';
import { MISTAKES } from './mistakes.ts';

/** Looks of a worker at each run. */
const LOOKS = howMany('DEVS_LOOKS', 100);

const A_MINUTE = 60_000;

/** A graph that makes a mistake, and how often its node has worked. */
interface Made {
  readonly graph: Builder;
  readonly worked: () => number;
  readonly drivenBy: (app: App) => void;
}

function made(id: string, { node, graph = oneNode }: Mistake): Made {
  let worked = 0;
  let app: App | null = null;
  const work = (config: LangGraphRunnableConfig): unknown => {
    worked += 1;
    return node({ id, app, config });
  };
  const drivenBy = (given: App): void => {
    app = given;
  };
  return { graph: graph(work), worked: () => worked, drivenBy };
}

/** Resolves when it has ended, however it did. */
async function byLangGraphAlone(id: string, mistake: Mistake): Promise<void> {
  const { graph } = made(id, mistake);
  const compiled = graph.compile({ checkpointer: new MemorySaver(), store: new InMemoryStore() });
  await compiled.invoke({}, { configurable: { thread_id: id } }).catch(() => undefined);
}

interface Driven extends Made {
  readonly app: App;
  readonly clock: SkippingClock;
}

function byDurable(id: string, mistake: Mistake, db: Database, clock = new SkippingClock()): Driven {
  const { gate, limits } = mistake;
  const it = made(id, mistake);
  const gates = gate && { gates: { work: gate } };
  const options = { db, now: clock.now, store: 'file', ...gates, ...(limits && { limits }) } as const;
  const app = durable(it.graph, options) as unknown as App;
  it.drivenBy(app);
  return { ...it, app, clock };
}

/** What a worker has driven in one look; nothing may have been refused. */
async function lookOf({ app, clock }: Driven): Promise<readonly RunResult<unknown>[]> {
  clock.advance(A_MINUTE);
  const { driven, refused } = await app.runDue();
  if (refused.length > 0) throw refused[0]?.error;
  return driven;
}

/** The first look has ended the run; no other one finds it. */
async function endedByWorker(id: string, driven: Driven): Promise<RunResult<unknown>> {
  await driven.app.start(id, {});
  const [result] = await lookOf(driven);
  for (let look = 1; look < LOOKS; look += 1) {
    const again = await lookOf(driven);
    if (again.length > 0) expect(again, id).toEqual([]);
  }
  if (result === undefined) throw new Error(`No worker has driven "${id}".`);
  return result;
}

function assertItsOwn(
  id: string,
  { reason, error }: RunResult<unknown>,
  { code, path, says = '' }: Mistake,
): void {
  const codes = [code ?? []].flat();
  expect(reason, id).toContain(says);
  expect(error?.name, id).toBeDefined();
  if (codes.length > 0) {
    expect(codes, id).toContain(error?.code);
    expect(reason, id).toContain(`${error?.code}: `);
  }
  if (path === undefined) return;
  expect({ id, path: error?.context?.['path'] }).toEqual({ id, path });
  expect(reason, id).toContain(path);
}

describe('a mistake of a node', () => {
  test('ends its run as failed, with its own error, and no worker makes it again', async ({ db }) => {
    expect(Object.keys(MISTAKES).length).toBeGreaterThanOrEqual(60);
    const clock = new SkippingClock();
    for (const [id, mistake] of Object.entries(MISTAKES)) {
      const { works = 1, again = works } = mistake;
      const driven = byDurable(id, mistake, db, clock);
      const { app, worked } = driven;
      const result = await endedByWorker(id, driven);
      const { status, reason } = internalsOf(app).store.threads.require(id);
      expect({ id, status, worked: worked() }).toEqual({ id, status: 'failed', worked: works });
      expect(result, id).toMatchObject({ status, reason });
      assertItsOwn(id, result, mistake);
      const anew = await app.run(id, undefined, { throwOnFailure: false });
      expect({ id, status: anew.status, worked: worked() - works }).toEqual({
        id,
        status: 'failed',
        worked: again,
      });
      await byLangGraphAlone(id, mistake);
    }
  });

  test('that was mended goes on where its run stands, when somebody drives it', async ({ db }) => {
    const asked: string[] = [];
    let value: unknown = new URL('https://example.com');
    const ask: StepFunction<number> = ({ key, usage }) => {
      usage({ costUsd: 0.5 });
      return asked.push(key);
    };
    const node: Node = async () => ({ value: [await step('ask', ask), value] });
    const { app, worked } = byDurable('run', { node }, db);
    const failed = await app.run('run', {}, { throwOnFailure: false });
    expect(failed).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(
        /^VALUE_NOT_STORABLE: Channel "value" .* value\[1\] .* an instance of URL/,
      ),
      error: { code: 'VALUE_NOT_STORABLE', context: { value: 'channel "value"', path: 'value[1]' } },
    });
    expect((await app.list()).runs).toMatchObject([{ status: 'failed', reason: failed.reason }]);
    expect(internalsOf(app).store.steps.costOf('run')).toMatchObject({ calls: 1, costUsd: 0.5 });
    value = 'plain';
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { value: [1, 'plain'] } });
    expect([worked(), asked.length]).toEqual([2, 1]);
  });

  test('is told as the cause, with its code, to who has asked for an error', async ({ db }) => {
    const { app } = byDurable('run', { node: () => ({ value: Number.NaN }) }, db);
    const failed = await app.run('run', {}, { throwOnFailure: true }).catch((error: unknown) => error);
    const { cause } = failed as Error;
    expect(failed).toMatchObject({ code: 'RUN_FAILED' });
    expect(isDevsError(cause, 'VALUE_NOT_STORABLE')).toBe(true);
    expect(cause).toMatchObject({
      context: { path: 'value' },
      remedy: expect.stringContaining('plain data'),
    });
  });
});

/** Refusals that a node can catch. */
const REFUSALS = {
  'of the store': ({ config }) => config.store?.put(['a'], 'k', { n: Number.NaN }),
  'of the store in a step': ({ config }) =>
    step('put', () => config.store?.put(['a'], 'k', { n: Number.NaN }).catch(() => undefined)),
  'of a step that was refused by the store': ({ config }) =>
    step('put', () => config.store?.put(['a'], 'k', { n: Number.NaN })),
  'of the stream': async ({ config }) => config.writer?.(() => 1),
  'of a child': ({ app, id }) => child(app as never, id, {} as never),
  'of a timer': () => sleep(Number.NaN),
} satisfies Readonly<Record<string, Node>>;

const HANDLED = { value: 'handled' };
const OWN_HANDLER = withOptions({ errorHandler: () => HANDLED });

const throwing =
  (message: string): Node =>
  () => {
    throw new Error(message);
  };

describe('a refusal', () => {
  test.for(Object.entries(REFUSALS))(
    '%s is caught by its node, which goes on',
    async ([, refused], { db }) => {
      const node: Node = async (here) => {
        let caught = 'nothing';
        await Promise.resolve(refused(here)).catch((error: unknown) => {
          caught = (error as Error).name;
        });
        return { value: caught };
      };
      const { app, worked } = byDurable('run', { node }, db);
      expect((await app.run('run', {})).status).toBe('completed');
      expect(worked()).toBe(1);
    },
  );

  test.for([
    ['of the store, by its own', REFUSALS['of the store'], OWN_HANDLER],
    ["of the store, by the graph's", REFUSALS['of the store'], handledBy(() => HANDLED)],
    ['half a character, by its own', throwing('\ud800'), OWN_HANDLER],
    ['2 MB, by its own', throwing('long '.repeat(400_000)), OWN_HANDLER],
  ] as const)('is handled: %s error handler', async ([, node, graph], { db }) => {
    const { app, worked } = byDurable('run', { node, graph }, db);
    expect(await app.run('run', {})).toMatchObject({ status: 'completed', values: { value: 'handled' } });
    expect(worked()).toBe(1);
  });
});

describe('a fault of the engine', () => {
  test('is no failure of the node that meets it: its run stays due', async ({ db }) => {
    const node: Node = () => {
      db.prepare('UPDATE threads SET lease_epoch = lease_epoch + 1').run();
      return step('ask', () => 1);
    };
    const { app } = byDurable('run', { node }, db);
    await expect(app.run('run', {})).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(internalsOf(app).store.threads.require('run').status).toBe('running');
  });
});
