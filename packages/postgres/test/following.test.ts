import type { DevsError, Runs } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileTemplates } from '../src/files/FileTemplates.ts';
import { plainCodecs, RunFiles } from '../src/files/RunFiles.ts';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import { Watches } from '../src/rows/Watches.ts';
import { poolOf } from '../src/server/pool.ts';
import { Tables } from '../src/server/Tables.ts';
import { type Cluster, startCluster, WAITING } from './support/startCluster.ts';

type HeldRun = Awaited<ReturnType<Runs['hold']>>;

let cluster: Cluster;
let one: PostgresRuns;
let two: PostgresRuns;

beforeAll(async () => {
  cluster = await startCluster();
  [one, two] = [cluster.runs(), cluster.runs()];
});
afterAll(() => cluster.stop());

let runs = 0;
async function aRun(): Promise<string> {
  runs += 1;
  await one.create(cluster.newRun(`run-${runs}`));
  return `run-${runs}`;
}

async function write(held: HeldRun, table: string): Promise<void> {
  held.db.exec(`CREATE TABLE ${table} (n INTEGER)`);
  await held.outlet.pending();
}

/** Tables that were written, as who looks at a run sees them. */
async function seen(by: PostgresRuns, id: string): Promise<readonly unknown[]> {
  const looked = await by.open(id);
  const sql = `SELECT name FROM sqlite_schema WHERE name LIKE 'w\\_%' ESCAPE '\\' ORDER BY name`;
  const names = looked.db.prepare(sql).pluck().all();
  looked.close();
  return names;
}

const spoilBase = (id: string) =>
  cluster.sql(`UPDATE devs.run_bases SET bytes = '\\x00' WHERE run_id = $1`, [id]);

test('what a run streams has arrived where it is driven, and is read elsewhere as it arrives', async () => {
  const Mail = Annotation.Root({ log: Annotation<string> });
  const writing = new StateGraph(Mail)
    .addNode('write', (_state, { writer }) => {
      for (const word of ['a', 'b', 'c']) writer?.(word);
      return { log: 'written' };
    })
    .addNode('sign', () => ({ log: 'signed' }))
    .addEdge(START, 'write')
    .addEdge('write', 'sign')
    .addEdge('sign', END);
  const app = durable(writing, { runs: one, graph: 'writing' });
  await app.start('streamed', { log: '' });
  const modes = [];
  const last = 'SELECT max(seq) FROM stream_events';
  const asked = { streamMode: ['custom', 'values'] } as const;
  const reader = durable(writing, { runs: two, graph: 'writing' }).stream('streamed', null, asked);
  const read = (async () => {
    const all: string[] = [];
    for await (const { mode } of reader) all.push(mode);
    return all;
  })();
  const streamed = app.stream('streamed', undefined, asked);
  for await (const event of streamed) {
    const looked = await two.open('streamed');
    expect(looked.db.prepare(last).pluck().get()).toBeGreaterThanOrEqual('seq' in event ? event.seq : 0);
    looked.close();
    modes.push(event.mode);
  }
  expect(modes.filter((mode) => mode === 'custom')).toHaveLength(3);
  expect(modes.at(-1)).toBe('end');
  expect(await read).toEqual(modes);
  expect(await app.result('streamed')).toMatchObject({ status: 'completed', values: { log: 'signed' } });
});

describe('who looks again', () => {
  test('reads what has come since, not the file anew', async () => {
    const id = await aRun();
    const held = await one.hold(id);
    await write(held, 'w_1');
    expect(await seen(two, id)).toEqual(['w_1']);
    await spoilBase(id);
    await cluster.sql('UPDATE devs.run_changes SET bytes = $2 WHERE run_id = $1', [id, Buffer.of(0)]);
    await write(held, 'w_2');
    expect(await seen(two, id)).toEqual(['w_1', 'w_2']);
    await expect(seen(one, id)).rejects.toMatchObject({ code: 'STATE_CORRUPT' } satisfies Partial<DevsError>);
    await held.close();
  });

  test('reads it anew where what has come since was put into a base', async () => {
    const id = await aRun();
    const held = await one.hold(id);
    await write(held, 'w_1');
    expect(await seen(two, id)).toEqual(['w_1']);
    held.db.exec(`CREATE TABLE w_2 (n BLOB); INSERT INTO w_2 VALUES (randomblob(100000))`);
    expect(await held.settle(WAITING)).toBe('settled');
    await held.close();
    expect(await cluster.sql('SELECT 1 FROM devs.run_changes WHERE run_id = $1', [id])).toEqual([]);
    expect(await seen(two, id)).toEqual(['w_1', 'w_2']);
  });

  test.each(['as far as it was', 'further'])(
    'reads it anew where the server has lost commits and the run has gone on, %s',
    async (how) => {
      const id = await aRun();
      const lost = await one.hold(id);
      await write(lost, 'w_lost');
      const before = await two.open(id);
      expect(await seen(two, id)).toEqual(['w_lost']);
      await cluster.sql('DELETE FROM devs.run_changes WHERE run_id = $1', [id]);
      await cluster.sql(
        'UPDATE devs.runs SET head_seq = 0, epoch = 0, owner = NULL, lease = NULL WHERE run_id = $1',
        [id],
      );
      const held = await two.hold(id);
      await write(held, 'w_other');
      if (how === 'further') await write(held, 'w_then');
      expect(await seen(two, id)).toEqual(['w_other', ...(how === 'further' ? ['w_then'] : [])]);
      const again = await two.reopen(id, before.at);
      expect(again).not.toBeNull();
      for (const each of [before, again, held, lost]) await each?.close();
    },
  );

  test('of many at once each sees what had come when he looked', async () => {
    const id = await aRun();
    const held = await one.hold(id);
    await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        await write(held, `w_${n}`);
        const names = await seen(two, id);
        expect(names).toContain(`w_${n}`);
      }),
    );
    await held.close();
  });

  test('has few files in memory: the one that was looked at longest ago goes', async () => {
    const [a, b] = [await aRun(), await aRun()];
    const { LookedAtFiles } = await import('../src/files/RunFiles.ts');
    const pool = poolOf({ connectionString: cluster.server.url });
    const tables = new Tables(pool, {
      schema: 'devs',
      patience: { awayMs: 0, onAway: () => undefined },
      isPooled: false,
    });
    const bytes =
      (await new RunFiles(tables, new FileTemplates(tables), { codecs: plainCodecs }).read(a))?.image.bytes
        .length ?? 0;
    const files = new LookedAtFiles(
      new RunFiles(tables, new FileTemplates(tables), { codecs: plainCodecs }),
      bytes,
    );
    const look = (id: string) => files.look(id, (at) => at?.seq);
    await look(a);
    await spoilBase(a);
    expect(await look(a)).toBe(0);
    await look(b);
    await expect(look(a)).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    await pool.end();
  });
});

const LATER_MS = 60 * 60 * 1000;

describe('who watches', () => {
  const heard = async (isHeard: () => boolean): Promise<void> => {
    while (!isHeard()) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  test('is told by the server of each change of a run that is followed, and of no other', async () => {
    const [id, other] = [await aRun(), await aRun()];
    const pool = poolOf({ connectionString: cluster.server.url });
    const tables = new Tables(pool, {
      schema: 'devs',
      patience: { awayMs: 0, onAway: () => undefined },
      isPooled: false,
    });
    await two.owner.ready();
    const watches = new Watches(tables, two.owner, LATER_MS);
    const told = { one: 0, all: 0 };
    const ends = [
      await watches.watch(id, () => {
        told.one += 1;
      }),
      await watches.watch(null, () => {
        told.all += 1;
      }),
    ];
    const [held, unheard] = [await one.hold(id), await one.hold(other)];
    await heard(() => told.one > 0);
    for (const name of ['w_1', 'w_2', 'w_3']) {
      const before = told.one;
      await write(held, name);
      await heard(() => told.one > before);
    }
    const before = { ...told };
    await write(unheard, 'w_1');
    const looked = await one.open(id);
    looked.close();
    expect(await looked.tell({ id: 'p', kind: 'pause' })).toBe(true);
    await heard(() => told.one > before.one && told.all > before.all);
    expect(told.all).toBe(before.all + 1);
    for (const end of ends) end();
    watches.close();
    await pool.end();
    await Promise.all([held.close(), unheard.close()]);
  });

  test('is told also where no notification comes through', async () => {
    const id = await aRun();
    const deaf = cluster.runs({ directUrl: 'postgres://devs@127.0.0.1:1/none' });
    let told = 0;
    const end = await deaf.watch(id, () => {
      told += 1;
    });
    const held = await one.hold(id);
    await write(held, 'w_1');
    await heard(() => told > 0);
    const before = told;
    await write(held, 'w_2');
    await heard(() => told > before);
    end();
    await held.close();
    await deaf.close();
  });
});
