import { setTimeout as wait } from 'node:timers/promises';
import { durable, sleep } from '@devs/core/langgraph';
import { Annotation, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PostgresOptions } from '../src/index.ts';
import type { WorkerEvent } from '../src/worker/Worker.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.runs().list();
});
afterAll(() => cluster.stop());

const Mail = Annotation.Root({ to: Annotation<string>(), sent: Annotation<string>() });
const ADA = { kind: 'human', id: 'ada' } as const;

function mailApp(options: Partial<PostgresOptions> = {}) {
  const runs = cluster.runs(options);
  const builder = new StateGraph(Mail)
    .addNode('ask', ({ to }) => ({ sent: `${to}: ${String(interrupt('Send?'))}` }))
    .addEdge(START, 'ask')
    .addEdge('ask', END);
  return { runs, app: durable(builder, { runs, graph: 'mail' }) };
}

const count = async (table: string, id: string): Promise<number> =>
  (await cluster.sql(`SELECT 1 FROM devs.${table} WHERE run_id = $1`, [id])).length;

describe('a run that was started and that nobody has driven', () => {
  test('has no file, and is found, looked at, told things and cancelled as any', async () => {
    const { app } = mailApp();
    await app.start('row', { to: 'Ada' }, { metadata: { customer: 'c7' }, tags: ['urgent'], by: ADA });
    expect([await count('run_bases', 'row'), await count('run_starts', 'row')]).toEqual([0, 1]);
    const { runs } = await app.list({ metadata: { customer: 'c7' }, tags: ['urgent'] });
    expect(runs).toMatchObject([{ id: 'row', status: 'created' }]);
    const { until, ...first } = await app.result('row');
    expect(until).toBeTypeOf('number');
    expect(first).toMatchObject({
      status: 'created',
      gates: [],
      metadata: { customer: 'c7' },
      tags: ['urgent'],
    });
    await wait(5);
    const other = mailApp().app;
    expect(await other.result('row')).toMatchObject(first);
    const rows = await cluster.sql(`SELECT created_at FROM devs.runs WHERE run_id = 'row'`);
    expect(rows).toEqual([{ created_at: new Date(first.createdAt) }]);
    await app.start('row', { to: 'Ada' }, { metadata: { customer: 'c7' }, tags: ['urgent'], by: ADA });
    await expect(app.start('row', { to: 'Bob' })).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
    await app.signal('row', 'word', 'early', { by: ADA, signalId: 's1' });
    await app.cancel('row', { by: ADA });
    expect(await app.result('row')).toMatchObject({ status: 'cancelled' });
    await app.close();
    await other.close();
  });

  test('is refused as before where its input is wrong, and nothing is recorded', async () => {
    const { app } = mailApp();
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    await expect(app.start('wrong', circle as never)).rejects.toMatchObject({ code: 'VALUE_NOT_STORABLE' });
    await expect(app.start('wrong', { to: 'A' }, { by: { kind: 'human', id: '' } })).rejects.toThrow();
    await expect(app.start('a\0b', { to: 'A' })).rejects.toThrow(RangeError);
    await expect(app.start('é'.repeat(501), { to: 'A' })).rejects.toThrow(
      'at most 1000 bytes of UTF-8, got 1002',
    );
    expect(await count('runs', 'wrong')).toBe(0);
    await app.close();
  });

  test('has an id that PostgreSQL stores: one with NUL is refused by every verb', async () => {
    const { app } = mailApp();
    const id = 'a\0b';
    const gate = { sessionId: id, threadId: id, artifactHash: '' } as Parameters<typeof app.decide>[0];
    const saver = new MemorySaver();
    const verbs = [
      () => app.start(id, { to: 'ada' }),
      () => app.run(id),
      () => app.getState(id),
      () => app.cancel(id),
      () => app.decide(gate, { approved: true, by: ADA }),
      () => app.delete(id, { by: ADA }),
      () => app.exportThread(id, { saver }),
      () => app.list({ idPrefix: id }),
      () => app.stream(id, null).next(),
    ];
    for (const verb of verbs) await expect(verb()).rejects.toThrow(/^id: expected a string without NUL$/);
    await app.close();
  });

  test('is driven from there: its driver makes the file, and what was told before is taken', async () => {
    const { runs, app } = mailApp();
    const worker = await runs.work({ drivers: [app] });
    await app.start('driven', { to: 'Ada' });
    let gates = (await app.openGates({ idPrefix: 'driven' })).gates;
    for (; gates.length === 0; await wait(10)) gates = (await app.openGates({ idPrefix: 'driven' })).gates;
    for (const gate of gates) await app.decide(gate, { value: 'yes', by: ADA });
    expect(await app.result('driven', { wait: true })).toMatchObject({
      status: 'completed',
      values: { to: 'Ada', sent: 'Ada: yes' },
    });
    await worker.stop();
    await app.close();
  });

  test('is driven by who resumes it, and deleted with what it was started with', async () => {
    const { app } = mailApp();
    await app.start('here', { to: 'Bob' });
    expect(await app.run('here')).toMatchObject({ status: 'waiting', gates: [{}] });
    await app.start('gone', { to: 'Bob' });
    await app.cancel('gone', { by: ADA });
    await app.run('gone').catch(() => undefined);
    await app.delete('gone', { by: ADA });
    expect([await count('runs', 'gone'), await count('run_starts', 'gone')]).toEqual([0, 0]);
    await app.close();
  });

  test('is unreadable for who does not have its codec, and for who reads the database', async () => {
    const flip = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 0x5a);
    const codec = () => ({ encode: flip, decode: flip });
    const { app } = mailApp({ codec });
    await app.start('sealed', { to: 'canary canary' });
    const [row] = await cluster.sql(`SELECT bytes FROM devs.run_starts WHERE run_id = 'sealed'`);
    expect(String(row?.['bytes'])).not.toContain('canary');
    expect(await app.run('sealed')).toMatchObject({ status: 'waiting', values: { to: 'canary canary' } });
    await app.start('kept', { to: 'canary' });
    await expect(mailApp().app.result('kept')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    await app.close();
  });
});

describe('a short run without calls', () => {
  const Count = Annotation.Root({ n: Annotation<number>() });
  const countApp = () => {
    const runs = cluster.runs();
    const builder = new StateGraph(Count)
      .addNode('count', ({ n }) => ({ n: n + 1 }))
      .addEdge(START, 'count')
      .addEdge('count', END);
    const webhooks = {
      team: { url: 'https://example.org/', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
    };
    return { runs, app: durable(builder, { runs, graph: 'count', webhooks }) };
  };
  const rowOf = async (id: string) =>
    (
      await cluster.sql(
        `SELECT status, head_seq::int, base_seq::int, listed_seq::int FROM devs.runs WHERE run_id = $1`,
        [id],
      )
    )[0];

  test('arrives as a whole with its end, and its events, its values and its journal are there', async () => {
    const { app } = countApp();
    const events: string[] = [];
    app.events.onAny((name) => events.push(name));
    await app.start('short', { n: 1 });
    expect(await app.run('short')).toMatchObject({ status: 'completed', values: { n: 2 } });
    expect(await rowOf('short')).toEqual({ status: 'completed', head_seq: 1, base_seq: 1, listed_seq: 1 });
    expect([await count('run_changes', 'short'), await count('run_starts', 'short')]).toEqual([0, 0]);
    const told = await cluster.sql(`SELECT event FROM devs.gate_events WHERE run_id = 'short'`);
    expect(told.map(({ event }) => JSON.parse(String(event)).name)).toEqual(['RUN_FINISHED']);
    expect(events).toContain('RUN_FINISHED');
    const other = countApp().app;
    expect(await other.result('short')).toMatchObject({ status: 'completed', values: { n: 2 } });
    await Promise.all([app.close(), other.close()]);
  });

  test('that is told something at its end goes on: what it has arrives as a change first', async () => {
    const teller = countApp().app;
    const { app, runs } = countApp();
    await app.start('told', { n: 1 });
    const held = await runs.hold('told');
    const drive = () =>
      app.drive(held, { drain: new AbortController().signal, signal: new AbortController().signal });
    const end = await drive();
    await teller.signal('told', 'word', 'late', { by: ADA, signalId: 's1' });
    expect(await held.settle(end)).toBe('again');
    expect(await rowOf('told')).toMatchObject({ head_seq: 1, base_seq: 0, status: 'created' });
    expect(await held.settle(await drive())).toBe('settled');
    expect(await rowOf('told')).toMatchObject({ head_seq: 2, base_seq: 2, status: 'completed' });
    await held.close();
    expect(await teller.result('told')).toMatchObject({ status: 'completed', values: { n: 2 } });
    await Promise.all([app.close(), teller.close()]);
  });

  test('arrives once where its end takes longer than a change would wait', async () => {
    const { app, runs } = countApp();
    await app.start('slow', { n: 1 });
    const held = await runs.hold('slow');
    const end = await app.drive(held, {
      drain: new AbortController().signal,
      signal: new AbortController().signal,
    });
    const locks = new pg.Client({ connectionString: cluster.server.url });
    await locks.connect();
    await locks.query(`BEGIN; SELECT FROM devs.runs WHERE run_id = 'slow' FOR UPDATE`);
    const settled = held.settle(end);
    await wait(700);
    await locks.query('COMMIT');
    await locks.end();
    expect(await settled).toBe('settled');
    expect(await rowOf('slow')).toMatchObject({ head_seq: 1, base_seq: 1, status: 'completed' });
    await held.close();
    await app.close();
  });

  test('of a lost lease leaves nothing', async () => {
    const { app, runs } = countApp();
    await app.start('lost', { n: 1 });
    const held = await runs.hold('lost');
    const end = await app.drive(held, {
      drain: new AbortController().signal,
      signal: new AbortController().signal,
    });
    await cluster.sql(
      `UPDATE devs.runs SET owner = NULL, lease = NULL, epoch = epoch + 1 WHERE run_id = 'lost'`,
    );
    await expect(held.settle(end)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await held.close();
    expect(await rowOf('lost')).toMatchObject({ head_seq: 0, base_seq: 0, status: 'created' });
    expect(await app.run('lost')).toMatchObject({ status: 'completed', values: { n: 2 } });
    await app.close();
  });
});

test('an app of another graph takes no run: its claim is refused, by the row and by the file', async () => {
  const { app } = mailApp();
  await app.start('mine', { to: 'Ada' });
  const other = durable(
    new StateGraph(Mail)
      .addNode('ask', () => ({}))
      .addEdge(START, 'ask')
      .addEdge('ask', END),
    { runs: cluster.runs(), graph: 'other' },
  );
  const row = () => cluster.sql(`SELECT graph, epoch::int, owner FROM devs.runs WHERE run_id = 'mine'`);
  await expect(other.run('mine')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  expect(await row()).toEqual([{ graph: 'mail', epoch: 0, owner: null }]);
  // A row with another name than its file: the file is right.
  await cluster.sql(`UPDATE devs.runs SET graph = 'other' WHERE run_id = 'mine'`);
  await expect(other.run('mine')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  expect(await row()).toEqual([{ graph: 'other', epoch: 1, owner: null }]);
  expect(await app.run('mine')).toMatchObject({ status: 'waiting' });
  await app.close();
  await other.close();
});

test('who had a run last has its file still: its base is not read again', async () => {
  const runs = cluster.runs();
  const builder = new StateGraph(Mail)
    .addNode('nap', async () => {
      await sleep(1500);
      return { sent: 'later' };
    })
    .addEdge(START, 'nap')
    .addEdge('nap', END);
  const app = durable(builder, { runs, graph: 'warm' });
  const events: WorkerEvent[] = [];
  const worker = await runs.work({ drivers: [app], onEvent: (event) => events.push(event) });
  // As soon as it sleeps, all that its file is made of is gone.
  await cluster.sql(
    `CREATE FUNCTION devs.lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
       DELETE FROM devs.run_bases WHERE run_id = NEW.run_id;
       DELETE FROM devs.run_starts WHERE run_id = NEW.run_id;
       DELETE FROM devs.run_changes WHERE run_id = NEW.run_id; RETURN NULL; END';
     CREATE TRIGGER lose AFTER UPDATE ON devs.runs FOR EACH ROW
       WHEN (NEW.run_id = 'warm' AND OLD.owner IS NOT NULL AND NEW.owner IS NULL AND NEW.status = 'waiting')
       EXECUTE FUNCTION devs.lose()`,
  );
  await app.start('warm', { to: 'Ada' });
  const is = async (status: string): Promise<void> => {
    const row = `SELECT FROM devs.runs WHERE run_id = 'warm' AND owner IS NULL AND status = '${status}'`;
    while ((await cluster.sql(row)).length === 0) await wait(20);
  };
  await is('waiting');
  await expect(cluster.runs().open('warm')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
  await is('completed');
  expect(events.filter((event) => event.is === 'driving')).toHaveLength(2);
  await worker.stop();
  await app.close();
});
