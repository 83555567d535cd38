import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Orchestrator } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { METRICS } from '../src/cluster/metrics.ts';
import { queueName } from '../src/jobs/Jobs.ts';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import { postgres } from '../src/postgres.ts';
import type { RunRows } from '../src/rows/RunRows.ts';
import { Worker, type WorkerEvent, type WorkerOptions } from '../src/worker/Worker.ts';
import { query } from './support/query.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';
import { QUEUE, type Steps, type StepsDriverOptions, stepsDriver, stepsRun } from './support/stepsDriver.ts';

type RunDriver = Awaited<ReturnType<Orchestrator['driver']>>;
type RunSignal = Parameters<RunRows['tell']>[1];

let server: PostgresServer;
let runs: PostgresRuns;
const workers: Worker[] = [];
const machines: PostgresRuns[] = [];

beforeAll(async () => {
  server = await startPostgres();
  runs = postgres(server.url);
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop({ drainMs: 0 })));
  await Promise.all(machines.splice(0).map((machine) => machine.close()));
});
afterAll(async () => {
  await runs.close();
  await server.stop();
});

interface StartedWorker {
  readonly worker: Worker;
  readonly events: WorkerEvent[];
}

/** A worker of a machine of its own. */
async function aWorker(
  driver: RunDriver | StepsDriverOptions = {},
  options: Partial<WorkerOptions> = {},
): Promise<StartedWorker> {
  const machine = postgres(server.url);
  machines.push(machine);
  const events: WorkerEvent[] = [];
  const drivers = ['drive' in driver ? driver : stepsDriver(driver)];
  const worker = await Worker.start(machine, { drivers, onEvent: (event) => events.push(event), ...options });
  workers.push(worker);
  return { worker, events };
}

let made = 0;
/** Starts runs and returns their ids. */
async function start(n: number, steps: Omit<Steps, 'id'> = { steps: 1 }): Promise<readonly string[]> {
  const ids = Array.from({ length: n }, (_, nth) => `run-${made + nth}`);
  made += n;
  for (const id of ids) await runs.create(stepsRun({ ...steps, id }));
  return ids;
}

const BY = { kind: 'human', id: 'ada' } as const;
const messageOf = (id: string): RunSignal => ({
  id,
  kind: 'message',
  name: 'm',
  payload: null,
  by: BY,
  signalId: id,
});
const tell = async (id: string, signal: string): Promise<void> => {
  for (;;) {
    const looked = await runs.open(id);
    looked.close();
    if (await looked.tell(messageOf(signal))) return;
  }
};

const rowsOf = (ids: readonly string[]) =>
  query(
    server.url,
    'SELECT run_id, status, view, owner, epoch::int FROM devs.runs WHERE run_id = ANY ($1) ORDER BY created_at',
    [ids],
  );

/** Waits until every one of the runs stands there. */
async function stand(ids: readonly string[], status: string): Promise<void> {
  while ((await rowsOf(ids)).some((row) => row['status'] !== status || row['owner'] !== null))
    await sleep(20);
}

/** A promise that is kept when it is told so. */
function signalled(): { readonly happened: Promise<void>; readonly happen: () => void } {
  let happen = (): void => undefined;
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happened, happen };
}

describe('a worker', () => {
  test('drives what is started, and again what is told something, in as many slots as it has', async () => {
    let [now, most] = [0, 0];
    const call = async (): Promise<void> => {
      now += 1;
      most = Math.max(most, now);
      await sleep(5);
      now -= 1;
    };
    const ids = await start(8, { steps: 2, tells: 1 });
    await aWorker({ call }, { slots: 3 });
    await stand(ids, 'waiting');
    expect(most).toBeLessThanOrEqual(3);
    for (const id of ids) await tell(id, `to ${id}`);
    await stand(ids, 'completed');
    expect((await rowsOf(ids)).map((row) => row['view'])).toEqual(
      ids.map((id) => JSON.stringify({ told: [`to ${id}`] })),
    );
  });

  test('looks again where a run was told something while it was let go of', async () => {
    const [id] = (await start(1, { steps: 1, tells: 2 })) as [string];
    let n = 0;
    const ending = async (): Promise<void> => {
      n += 1;
      if (n <= 2) await tell(id, `signal ${n}`);
    };
    await aWorker({ ending });
    await stand([id], 'completed');
  });

  test('loses nothing that a run is told, whenever that is', async () => {
    const tells = 4;
    const ids = await start(6, { steps: 1, tells });
    await Promise.all([aWorker({}, { slots: 2 }), aWorker({}, { slots: 2 })]);
    const said = Array.from({ length: tells }, (_, n) => `signal ${n}`);
    await Promise.all(
      ids.map(async (id) => {
        for (const signal of said) await tell(id, signal);
      }),
    );
    await stand(ids, 'completed');
    const told = (await rowsOf(ids)).map((row) => JSON.parse(String(row['view'])) as unknown);
    expect(told).toEqual(ids.map(() => ({ told: said })));
  });

  test('drives a run whose time has come', async () => {
    const [id] = (await start(1, { steps: 1, tells: 1 })) as [string];
    let n = 0;
    const again = signalled();
    const until = (): number | null => {
      n += 1;
      if (n === 2) again.happen();
      return n === 1 ? Date.now() : null;
    };
    await aWorker({ until });
    await again.happened;
    await stand([id], 'waiting');
    expect(await query(server.url, 'SELECT until FROM devs.runs WHERE run_id = $1', [id])).toEqual([
      { until: null },
    ]);
  });

  test('refuses a start that can do nothing', async () => {
    await expect(Worker.start(runs, { drivers: [] })).rejects.toThrow(RangeError);
    await expect(Worker.start(runs, { drivers: [stepsDriver()], slots: 0 })).rejects.toThrow(RangeError);
  });
});

describe('a worker that stops', () => {
  test('leaves a run at its next safe point to another one, in one commit', async () => {
    const [id] = (await start(1, { steps: 3 })) as [string];
    const calls: number[] = [];
    const [begun, go] = [signalled(), signalled()];
    const call = async (_: string, step: number): Promise<void> => {
      calls.push(step);
      begun.happen();
      await go.happened;
    };
    const { worker } = await aWorker({ call });
    await begun.happened;
    const stopped = worker.stop();
    expect(worker.isReady).toBe(false);
    go.happen();
    expect(await stopped).toBe(0);
    expect(calls).toEqual([0]);
    expect(await rowsOf([id])).toMatchObject([{ status: 'running', owner: null }]);
    await aWorker({ call });
    await stand([id], 'completed');
    expect(calls).toEqual([0, 1, 2]);
  });

  test('cuts off what does not come to a safe point in time', async () => {
    const [id] = (await start(1, { steps: 1 })) as [string];
    const begun = signalled();
    const call = async (_run: string, _step: number, abort: AbortSignal): Promise<void> => {
      begun.happen();
      if (!abort.aborted) await once(abort, 'abort');
      throw new Error('cut off');
    };
    const { worker, events } = await aWorker({ call });
    await begun.happened;
    expect(await worker.stop({ drainMs: 10 })).toBe(0);
    expect(events.map(({ is }) => is)).toEqual(['driving', 'cut off']);
    await aWorker();
    await stand([id], 'completed');
  });

  test('leaves what it was given and had not claimed', async () => {
    const { worker } = await aWorker();
    const ids = await start(5);
    expect(await worker.stop()).toBe(0);
    await aWorker();
    await stand(ids, 'completed');
  });
});

describe('the health of a worker', () => {
  const ask = async ({ worker }: StartedWorker, path: string): Promise<readonly [number, string]> => {
    const response = await fetch(`http://127.0.0.1:${worker.healthPort}${path}`);
    return [response.status, await response.text()];
  };

  test('is told over HTTP, with what it and the cluster count', async () => {
    const started = await aWorker({}, { slots: 3, healthPort: 0 });
    const ids = await start(2, { steps: 2, tells: 1 });
    await stand(ids, 'waiting');
    expect(await ask(started, '/livez')).toEqual([200, expect.stringContaining('event loop')]);
    expect(await ask(started, '/readyz')).toEqual([200, 'ready\n']);
    expect(await ask(started, '/other')).toEqual([404, 'not found\n']);
    const [status, text] = await ask(started, '/metrics');
    expect(status).toBe(200);
    for (const { name } of METRICS) expect(text).toContain(`# TYPE ${name} `);
    for (const line of [
      'devs_worker_ready 1',
      'devs_worker_slots 3',
      'devs_runs{status="waiting",tenant="default"}',
    ])
      expect(text).toContain(line);
    expect(text).toMatch(/^devs_checkouts_total [1-9]/m);
    expect(text).toMatch(/^devs_ship_seconds_count [1-9]/m);
  });

  test('has a page that lists every metric', () => {
    const page = readFileSync(new URL('../../../docs/reference/metrics.md', import.meta.url), 'utf8');
    expect([...page.matchAll(/^\| `(devs_\w+)`/gm)].map(([, name]) => name)).toEqual(
      METRICS.map(({ name }) => name),
    );
  });

  test('says that it drains', async () => {
    const [begun, go] = [signalled(), signalled()];
    const call = async (): Promise<void> => {
      begun.happen();
      await go.happened;
    };
    const started = await aWorker({ call }, { healthPort: 0 });
    const ids = await start(1);
    await begun.happened;
    const stopped = started.worker.stop();
    expect(await ask(started, '/readyz')).toEqual([503, 'draining\n']);
    go.happen();
    await stopped;
    await stand(ids, 'completed');
  });

  test('has a port, or the worker does not start', async () => {
    const started = await aWorker({}, { healthPort: 0 });
    const machine = postgres(server.url);
    machines.push(machine);
    const again = Worker.start(machine, {
      drivers: [stepsDriver()],
      healthPort: Number(started.worker.healthPort),
    });
    await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('a run that cannot be driven', () => {
  test('is tried again later, is a dead letter then, and is driven again when told so', async () => {
    const [id] = (await start(1)) as [string];
    await query(server.url, 'UPDATE devs.runs SET failures = 7 WHERE run_id = $1', [id]);
    let isBroken = true;
    const call = async (): Promise<void> => {
      if (isBroken) throw new Error('the disk is full');
    };
    const { events } = await aWorker({ call });
    const { leases, view } = await runs.driving();
    while ((await leases.deadLetters()).length === 0) await sleep(20);
    const letters = await leases.deadLetters();
    expect(letters).toMatchObject([{ threadId: id, attempts: 9, error: 'Error: the disk is full' }]);
    const { deadLetters } = await view.deadNumbers();
    const { runs: byStatus } = await view.numbers();
    const given = byStatus.filter(({ status }) => status === 'dead_letter');
    expect([deadLetters, given.map((each) => each.runs)]).toEqual([1, [1]]);
    expect(await runs.get(id)).toMatchObject({ status: 'dead_letter', reason: 'Error: the disk is full' });
    expect(await leases.restoreJobs()).toBe(0);
    expect(events.map((event) => (event.is === 'failed' ? event.attempt : event.is))).toEqual([
      'driving',
      1,
      'driving',
      2,
    ]);
    isBroken = false;
    expect(await leases.redrive(['none'])).toEqual([]);
    expect(await leases.redrive(null)).toEqual([id]);
    expect(await leases.deadLetters()).toEqual([]);
    await stand([id], 'completed');
  });
});

describe('a run whose node makes a mistake', () => {
  test('has failed: its job is done, and nobody drives it before somebody asks', async () => {
    const mistakes: Readonly<Record<string, () => object>> = {
      value: () => ({ value: Number.NaN }),
      question: () => interrupt({ when: () => 0 }),
      error: () => {
        throw new RangeError('too far');
      },
    };
    let worked = 0;
    const State = Annotation.Root({ of: Annotation<string>(), value: Annotation<unknown>() });
    const builder = new StateGraph(State)
      .addNode('work', ({ of }) => {
        worked += 1;
        return mistakes[of]?.() ?? {};
      })
      .addEdge(START, 'work');
    const app = durable(builder, { runs, graph: 'mistaken' });
    const ids = Object.keys(mistakes);
    for (const of of ids) await app.start(of, { of });
    const { events } = await aWorker(app);
    await stand(ids, 'failed');
    const told = () => events.map(({ is }) => is).toSorted();
    await expect.poll(told).toEqual([...ids.map(() => 'driving'), ...ids.map(() => 'settled')]);
    expect(worked).toBe(ids.length);
    const jobs = await query(
      server.url,
      `SELECT state FROM devs_boss.job WHERE name = $1 AND state NOT IN ('completed', 'cancelled')`,
      [queueName(app.queue)],
    );
    expect(jobs).toEqual([]);
    expect((await app.list()).runs.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining([
        'too far',
        expect.stringMatching(/^VALUE_NOT_STORABLE: .* value /),
        expect.stringMatching(/^VALUE_NOT_STORABLE: .*when/),
      ]),
    );
    await app.start('value');
    while (worked === ids.length) await sleep(20);
    await stand(ids, 'failed');
    expect(worked).toBe(ids.length + 1);
  });
});

describe('a run whose file cannot be read', () => {
  test('is tried again later, and is a dead letter that says why', async () => {
    const [id] = (await start(1)) as [string];
    await query(server.url, 'UPDATE devs.runs SET failures = 8 WHERE run_id = $1', [id]);
    await query(server.url, `UPDATE devs.run_bases SET bytes = 'no file' WHERE run_id = $1`, [id]);
    const { events } = await aWorker();
    const { leases } = await runs.driving();
    while ((await leases.deadLetters()).length === 0) await sleep(20);
    const letters = await leases.deadLetters();
    expect(letters).toMatchObject([{ threadId: id, attempts: 9, error: expect.any(String) }]);
    expect(events).toMatchObject([{ is: 'failed', threadId: id, attempt: 1 }]);
    expect(await rowsOf([id])).toMatchObject([{ owner: null }]);
  });
});

describe('a job that was fetched by who died before he claimed its run', () => {
  test('is given back as soon as he is known to be dead', async () => {
    const [id] = (await start(1)) as [string];
    const { jobs } = await runs.driving();
    const fetched = await jobs.fetch(queueName(QUEUE), { limit: 1, caps: new Map() });
    expect(fetched.map(({ runId }) => runId)).toEqual([id]);
    await query(
      server.url,
      `INSERT INTO devs.workers (worker_id, lock_key, host, pid, slots, graphs) VALUES ('dead', 1, 'h', 1, 1, '[]')`,
    );
    await aWorker();
    await stand([id], 'completed');
  });
});

describe('graphs of another shape', () => {
  test('are left to the workers that have it, and said to have none', async () => {
    const other = { ...QUEUE, fingerprint: 'e'.repeat(64) };
    await runs.create(stepsRun({ id: 'old', steps: 1 }, other));
    const [id] = (await start(1)) as [string];
    await aWorker();
    await stand([id], 'completed');
    expect(await rowsOf(['old'])).toMatchObject([{ status: 'created' }]);
    const { view } = await runs.driving();
    const queues = await view.queues();
    expect(queues.find(({ queue }) => queue.includes('eeee'))).toMatchObject({
      ready: 1,
      runs: 1,
      workers: 0,
    });
    expect(queues.find(({ queue }) => queue.includes('ffff'))).toMatchObject({ ready: 0, workers: 1 });
    await aWorker(stepsDriver({ queue: other }));
    await stand(['old'], 'completed');
  });
});
