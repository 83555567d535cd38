import { durable } from '@devs/core';
import { createDatabase } from '@devs/core/state';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawnProgram } from '../../../core/test/support/spawnTs.ts';
import { endThread, type ThreadGraph, threadGraphs } from '../../../core/test/support/threadGraphs.ts';
import { type Cluster, startCluster } from '../support/startCluster.ts';

const by = { kind: 'human', id: 'ada' } as const;

let cluster: Cluster;
let ids: readonly string[];
let saver: PostgresSaver;

beforeAll(async () => {
  cluster = await startCluster();
  const { url } = cluster.server;
  const left = await spawnProgram('packages/postgres/test/transfer/leave.child.ts', [url]).finished;
  expect(left.stderr).toBe('');
  ids = JSON.parse(left.stdout) as readonly string[];
  saver = PostgresSaver.fromConnString(url);
}, 60_000);
afterAll(async () => {
  await saver.end();
  await cluster.stop();
});

const graphOf = (id: string) => threadGraphs[id.split(' ')[0] as ThreadGraph]() as never;

const rows = async (): Promise<unknown> => {
  const tables = ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes', 'checkpoint_migrations'];
  const hashed: unknown[] = [];
  for (const table of tables) {
    const sql = `SELECT count(*), md5(string_agg(t::text, ';' ORDER BY t::text)) FROM public.${table} AS t`;
    hashed.push(await cluster.sql(sql));
  }
  return hashed;
};

const places = {
  'a state file': (id: string) => {
    const db = createDatabase({ dbPath: ':memory:' });
    return durable(graphOf(id), { db });
  },
  'a cluster': (id: string) => durable(graphOf(id), { runs: cluster.runs(), graph: id.split(' ')[0] ?? '' }),
};

describe.each(Object.entries(places))(
  'threads of the official PostgresSaver, left by another process, in %s',
  (where, open) => {
    test('end as LangGraph ends them, and so do those that are exported again', {
      timeout: 60_000,
    }, async () => {
      const before = await rows();
      const back = PostgresSaver.fromConnString(cluster.server.url, {
        schema: `back_${where.replaceAll(' ', '_')}`,
      });
      await back.setup();
      const ended: unknown[] = [];
      for (const id of ids) {
        const app = open(id);
        expect(await app.importThread(id, { saver, by })).toMatchObject({
          result: 'imported',
          status: 'waiting',
        });
        expect(await app.importThread(id, { saver, by })).toMatchObject({ result: 'unchanged' });
        expect((await app.openGates({ idPrefix: id })).gates.length).toBeGreaterThan(0);
        await app.exportThread(id, { saver: back });
        let ran = await app.run(id);
        while (ran.status === 'waiting') {
          for (const gate of ran.gates) await app.decide(gate, { value: `(${String(gate.artifact)})`, by });
          ran = await app.run(id);
        }
        ended.push([id, await app.values(id)]);
      }
      expect(await rows()).toEqual(before);
      const expected: unknown[] = [];
      for (const id of ids) expected.push([id, await endThread(back, id)]);
      expect(ended).toEqual(expected);
      await back.end();
    });
  },
);

test('end by plain LangGraph, where they were left, as the copies have', async () => {
  const back = PostgresSaver.fromConnString(cluster.server.url, { schema: 'back_a_cluster' });
  for (const id of ids) expect([id, await endThread(saver, id)]).toEqual([id, await endThread(back, id)]);
  await back.end();
});
