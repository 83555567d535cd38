import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import type { Limits } from '../../config/limits.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import type { DevsError } from '../../errors/DevsError.ts';
import { durable } from '../app/durable.ts';
import { step } from '../node/step.ts';
import { SqliteStore } from '../store/SqliteStore.ts';

const ada = { kind: 'human', id: 'ada' } as const;
const SMALL = { valueBytes: 3_000, channelBytes: 4_000, checkpointBytes: 6_000, stepBytes: 1_000 };
const LIMITS: Partial<Limits> = {
  ...SMALL,
  answerBytes: 1_000,
  signalBytes: 1_000,
  chunkBytes: 1_000,
  depth: 20,
};

const State = Annotation.Root({
  list: Annotation<unknown[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
  other: Annotation<unknown>,
});
type Node = (
  state: typeof State.State,
  config: { writer?: (chunk: unknown) => void },
) => object | Promise<object>;

const text = (length: number): string => 'x'.repeat(length);

/** An app whose one node does what it is told. */
function appOf(db: Database, limits: Partial<Limits>, node: Node = () => ({})) {
  const gates = { work: { show: () => 'go?', answer: z.unknown() } };
  const graph = new StateGraph(State).addNode('work', node).addEdge(START, 'work').addEdge('work', END);
  return durable(graph, { db, limits, gates });
}

type App = ReturnType<typeof appOf>;

/** Drives a run to its end; its gate takes any value. */
async function ended(app: App, id: string, input: unknown, value: unknown = 1): Promise<unknown> {
  const { gates } = await app.run(id, input as object);
  await app.decide(only(gates), { value, by: ada });
  const { status, error } = await app.run(id, undefined, { throwOnFailure: false });
  if (status === 'completed') return status;
  throw error ?? new Error(status);
}

/** What passes a limit: done with limits that refuse it, and again with those that its refusal names. */
const CASES: Readonly<Record<string, readonly [limit: keyof Limits, bytes: number | null, work: Work]>> = {
  'an input': ['valueBytes', 3_512, (db, limits) => ended(appOf(db, limits), 'r', { other: text(3_500) })],
  'a write of a node': [
    'valueBytes',
    3_502,
    (db, limits) =>
      ended(
        appOf(db, limits, () => ({ other: text(3_500) })),
        'w',
        {},
      ),
  ],
  'a channel that has grown': [
    'channelBytes',
    5_006,
    (db, limits) =>
      ended(
        appOf(db, limits, () => ({ list: [text(2_500)] })),
        'c',
        { list: [text(2_499)] },
      ),
  ],
  'all channels together': [
    'checkpointBytes',
    null,
    (db, limits) =>
      ended(
        appOf(db, limits, () => ({ list: [text(1_000)], other: text(2_900) })),
        'k',
        { list: [text(2_600)] },
      ),
  ],
  'the result of a step': [
    'stepBytes',
    1_502,
    async (db, limits) => {
      let refused: unknown;
      const pay: Node = async () => {
        const other = await step('s', () => text(1_500)).catch((error: unknown) => {
          refused = error;
        });
        return { other };
      };
      const left = await ended(appOf(db, limits, pay), 's', {}).catch(() => 'failed');
      if (refused !== undefined) throw refused;
      return left;
    },
  ],
  'an answer': ['answerBytes', 1_502, (db, limits) => ended(appOf(db, limits), 'a', {}, text(1_500))],
  'a signal': [
    'signalBytes',
    1_512,
    async (db, limits) => {
      const app = appOf(db, limits);
      await app.start('g', {});
      return app.signal('g', 'n', { body: text(1_501) }, { by: ada, signalId: '1' });
    },
  ],
  'a piece of the stream': [
    'chunkBytes',
    1_502,
    (db, limits) => {
      const tell: Node = (_, { writer }) => {
        writer?.(text(1_500));
        return {};
      };
      return ended(appOf(db, limits, tell), 't', {});
    },
  ],
  'an item of the store': [
    'valueBytes',
    3_512,
    (db, limits) =>
      new SqliteStore(db, { limits: { valueBytes: limits.valueBytes ?? 1 } }).put(['a'], 'k', {
        text: text(3_501),
      }),
  ],
};

type Work = (db: Database, limits: Partial<Limits>) => Promise<unknown>;

/** A refusal as it is thrown, or as a failed run tells it. */
type Refusal = Pick<DevsError, 'message' | 'remedy' | 'context'>;

async function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  const error: unknown = await work.then(
    () => expect.fail('was not refused'),
    (thrown: unknown) => thrown,
  );
  let found = error as Partial<Refusal> & { readonly cause?: unknown };
  while (found.remedy === undefined && found.cause !== undefined) found = found.cause as typeof found;
  return found.remedy === undefined ? expect.fail(String(error)) : (found as Refusal);
}

/** `limits: { valueBytes: 1048576 }` in a remedy. */
function limitsIn(remedy: string): Partial<Limits> {
  const [, name = '', bytes = ''] = /`limits: \{ (\w+): (\d+) \}`/.exec(remedy) ?? expect.fail(remedy);
  return { [name]: Number(bytes) };
}

describe('a limit that is passed', () => {
  test.for(Object.entries(CASES))(
    'by %s: raised as its remedy says, the same is taken',
    async ([, [limit, bytes, work]], { db }) => {
      const { message, remedy, context } = await refusalOf(work(db, LIMITS));
      expect(limitsIn(remedy)).toHaveProperty(limit);
      expect(context).toMatchObject({ option: `limits.${limit}`, limit: LIMITS[limit] });
      expect(message).toContain(`the limit is ${String(LIMITS[limit])} bytes`);
      if (bytes !== null) expect(message).toContain(`${bytes} bytes`);
      const anew = createDatabase({ dbPath: ':memory:' });
      await work(anew, { ...LIMITS, ...limitsIn(remedy) });
      anew.close();
    },
  );

  test('of levels: raised as its remedy says, the same is taken, up to the most there can be', async ({
    db,
  }) => {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
    const { remedy } = await refusalOf(ended(appOf(db, { depth: 20 }), 'd', { other: deep(30) }));
    const [, most = ''] = /`limits\.depth`, up to (\d+)/.exec(remedy) ?? expect.fail(remedy);
    const app = appOf(db, { depth: Number(most) }, () => ({ list: [deep(990)] }));
    await ended(app, 'e', { other: deep(990) });
    expect((await app.values('e'))?.other).toEqual(deep(990));
  });

  test('by a write, leaves nothing that rests on it, and the node can write something else', async ({
    db,
  }) => {
    const made = { of: text(3_500) };
    const app = appOf(db, { ...LIMITS, channelBytes: 1_000_000, checkpointBytes: 1_000_000 }, () => ({
      other: made.of,
    }));
    expect(await refusalOf(ended(app, 'w', {}))).toMatchObject({
      context: { channel: 'other', bytes: 3_502 },
    });
    expect((await app.values('w'))?.other).toBeUndefined();
    made.of = 'short';
    await app.run('w');
    expect((await app.values('w'))?.other).toBe('short');
  });

  test('names the place that has the most of it', async ({ db }) => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'user', content: [{ image: text(4_000) }] },
    ];
    const { message, context } = await refusalOf(ended(appOf(db, LIMITS), 'p', { other: messages }));
    expect(message).toBe(
      'The input of run "p" is 4083 bytes, most of it at input.other[1].content[0].image; the limit is 3000 bytes.',
    );
    expect(context).toMatchObject({ path: 'input.other[1].content[0].image' });
  });
});
