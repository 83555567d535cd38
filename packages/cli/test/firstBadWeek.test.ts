import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DevsError } from '@devs/core';
import { durable, step } from '@devs/core/langgraph';
import type { PostgresRuns, Worker } from '@devs/postgres';
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { giveUp } from '../../postgres/test/support/giveUp.ts';
import { type Cluster, startCluster } from '../../postgres/test/support/startCluster.ts';
import { callMain } from './support/callMain.ts';

const PAGE = readFileSync(new URL('../../../docs/guide/first-bad-week.md', import.meta.url), 'utf8');

/** The commands and the SQL below each heading, in their order. */
const SECTIONS = new Map(
  PAGE.split(/^##? /m)
    .slice(1)
    .map((section) => {
      const [heading = ''] = section.split('\n');
      const blocks = [...section.matchAll(/^```(?:sh|sql)\n(.*?)^```/gms)].map(([, block = '']) => block);
      return [heading, blocks.flatMap((block) => block.split('\n')).filter((line) => line !== '')] as const;
    }),
);

let cluster: Cluster;
let runs: PostgresRuns;
let provider: 'away' | 'there' = 'there';
const workers: Worker[] = [];
const dir = mkdtempSync(join(tmpdir(), 'devs-bad-week-'));

beforeAll(async () => {
  cluster = await startCluster();
  runs = cluster.runs();
  await runs.list();
});
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  provider = 'there';
  await cluster.sql('TRUNCATE devs.runs CASCADE; DELETE FROM devs_boss.job');
});
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.stop())));

const Mail = Annotation.Root({ to: Annotation<string>(), sent: Annotation<boolean>() });
const mail = new StateGraph(Mail)
  .addNode('ask', async ({ to }) => {
    await step('look up', () => {
      if (provider === 'away') throw new Error('connect ECONNREFUSED 10.0.0.7:443');
      return to;
    });
    return { sent: interrupt<string, boolean>(`Send to ${to}?`) };
  })
  .addEdge(START, 'ask');
const appOver = (over: PostgresRuns) => durable(mail, { runs: over, graph: 'mail' });

async function work(): Promise<void> {
  const own = cluster.runs();
  workers.push(await own.work({ drivers: [appOver(own)] }));
}

async function start(id: string, tenant = 'acme'): Promise<void> {
  await appOver(runs).start(id, { to: 'Ada' }, { tenant, metadata: { release: '42' } });
}

async function stands(id: string, wanted: string): Promise<void> {
  while ((await appOver(runs).get(id))?.status !== wanted) await sleep(20);
}

/** Types a line of the page; of a command, what it wrote. */
async function type(line: string): Promise<string> {
  if (!line.startsWith('devs ')) {
    await cluster.sql(line);
    return '';
  }
  const { exitCode, stdout, stderr } = await callMain(dir, line.split(' ').slice(1), {
    env: { DEVS_DATABASE_URL: cluster.server.url },
  });
  expect([line, exitCode, stderr]).toEqual([line, 0, '']);
  return stdout;
}

/** What happened before, and what each command says then, in the order of the page. */
interface Day {
  readonly before: () => Promise<void>;
  readonly says: readonly (RegExp | (() => Promise<void>))[];
}

const waitingMail = async (): Promise<void> => {
  await work();
  await start('mail-7');
  await stands('mail-7', 'waiting');
};

const DAYS: Readonly<Record<string, Day>> = {
  'First bad week': {
    before: waitingMail,
    says: [
      /held by +nobody, since .*\n +waits for +a person: gate \w{8}\n +moved by +devs show \w{8}/,
      /runs\.mail\./,
      /0 of 10/,
    ],
  },
  'The database failed over': {
    before: async () => {
      await waitingMail();
      await cluster.server.restart();
    },
    says: [/"queues":/, /a person/],
  },
  'A run kills its workers': {
    before: async () => {
      await start('mail-7');
      const { queue } = appOver(runs);
      await giveUp(
        cluster.server.url,
        `runs.mail.${queue.fingerprint.slice(0, 16)}`,
        new Error('5 processes died'),
      );
      provider = 'away';
      await work();
      for (const [id, tenant] of [
        ['mail-8', 'acme'],
        ['mail-9', 'umbrella'],
      ] as const) {
        await start(id, tenant);
        await stands(id, 'failed');
      }
      provider = 'there';
    },
    says: [
      /given up, .*5 processes died\n +moved by +fix the cause, then devs redrive mail-7/,
      /^mail-7 waits for a worker again\n$/,
      async () => stands('mail-7', 'waiting'),
      /^mail-8 waits for a worker again\n$/,
      async () => {
        await stands('mail-8', 'waiting');
        await stands('mail-9', 'failed');
      },
      /mail-7 will stop at its next safe point/,
    ],
  },
  'PostgreSQL has no space left': {
    before: async () => {
      await waitingMail();
      await start('mail-8');
      await stands('mail-8', 'waiting');
      await appOver(runs).cancel('mail-8');
      await stands('mail-8', 'cancelled');
      await cluster.sql(`UPDATE devs.runs SET ended_at = now() - interval '31 days' WHERE run_id = 'mail-8'`);
    },
    says: [/^removed 1 run\n$/],
  },
  'Restore to a point in time': {
    before: async () => {
      for (const id of ['payment-1', 'payment-2', 'mail-1']) await start(id);
    },
    says: [
      /payment-2 will stop at its next safe point\npayment-1 will stop/,
      /payment-1 .*\n/,
      async () => {
        await work();
        for (const id of ['payment-1', 'payment-2']) await stands(id, 'paused');
        await stands('mail-1', 'waiting');
      },
      /^payment-1 waits for a worker again\n$/,
      /payment-2/,
      async () => {
        await stands('payment-1', 'waiting');
        await stands('payment-2', 'cancelled');
      },
    ],
  },
  'Roll back a deploy': {
    before: waitingMail,
    says: [/runs\.mail\./, /mail-7/],
  },
};

describe('the page of the first bad week', () => {
  test('has no command that is not typed here', () => {
    expect([...SECTIONS].flatMap(([heading, lines]) => (lines.length === 0 ? [] : [heading]))).toEqual(
      Object.keys(DAYS),
    );
  });

  test.each(Object.entries(DAYS))('%s', async (heading, { before, says }) => {
    await before();
    const lines = [...(SECTIONS.get(heading) ?? [])];
    for (const said of says) {
      if (said instanceof RegExp) expect(await type(lines.shift() ?? '')).toMatch(said);
      else await said();
    }
    for (const sql of lines) expect(await type(sql)).toBe('');
  });
});

describe('devs why', () => {
  const why = async (id: string): Promise<Record<string, unknown>> =>
    JSON.parse(await type(`devs why ${id} --json`));

  test('names a missing worker, a full tenant, a later attempt, a timer and an end', async () => {
    await start('mail-7');
    expect(await why('mail-7')).toMatchObject({
      ...{ id: 'mail-7', status: 'created', heldBy: null },
      waitsFor: [expect.stringMatching(/^a worker of queue runs\.mail\.\w{16}: no live one/)],
      movedBy: [expect.stringContaining('devs accept-graph mail-7')],
    });
    await type('devs tenants set acme --cap 0');
    expect(await why('mail-7')).toMatchObject({
      waitsFor: [expect.anything(), 'room for tenant acme: 0 of 0 execute'],
      movedBy: [expect.anything(), 'devs tenants set acme --cap 1'],
    });
    await work();
    await type('devs tenants set acme --cap none');
    await stands('mail-7', 'waiting');
    await cluster.sql(`UPDATE devs.runs SET until = '2030-01-01' WHERE run_id = 'mail-7'`);
    expect((await why('mail-7'))['waitsFor']).toEqual([
      expect.stringMatching(/^a person: gate /),
      'its timer, due 2030-01-01T00:00:00.000Z',
    ]);
    const held = await cluster.runs().hold('mail-7');
    const { heldBy, since, waitsFor } = await why('mail-7');
    expect([heldBy, waitsFor]).toEqual([expect.stringContaining(`:${process.pid}:`), ['its worker']]);
    expect(Date.parse(String(since))).toBeGreaterThan(Date.now() - 60_000);
    await held.close();
    await appOver(runs).cancel('mail-7');
    await stands('mail-7', 'cancelled');
    expect(await why('mail-7')).toMatchObject({
      waitsFor: ['nothing: it has ended'],
      movedBy: ['devs log mail-7'],
    });
    const unknown = await callMain(dir, ['why', 'nobody'], {
      env: { DEVS_DATABASE_URL: cluster.server.url },
    });
    expect(unknown).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('THREAD_NOT_FOUND') });
  });
});

describe('a cluster whose last worker was killed', () => {
  // Nobody is there to delete its row.
  const remains = `INSERT INTO devs.workers (worker_id, lock_key, host, pid, slots, graphs)
    VALUES ('gone:1:a', 1, 'gone', 1, 10, jsonb_build_array($1::text))`;

  test('has no worker for its runs', async () => {
    await start('mail-7');
    const [{ queue } = {}] = await cluster.sql('SELECT queue FROM devs.runs');
    await cluster.sql(remains, [queue]);
    while (!(await type('devs workers')).match(/gone +1 +0 of 10 +dead +/)) await sleep(100);
    expect(JSON.parse(await type('devs why mail-7 --json'))).toMatchObject({
      waitsFor: [`a worker of queue ${queue}: no live one has its graph in this shape`],
      movedBy: ['start a worker with its graph, or devs accept-graph mail-7'],
    });
    expect(JSON.parse(await type('devs queue --json')).queues).toMatchObject([
      { queue, runs: 1, workers: 0 },
    ]);
  });
});

describe('many runs at once', () => {
  test('are paused, cancelled and retried by what selects them, and the others stay', async () => {
    for (const id of ['a-1', 'a-2']) await start(id);
    await start('u-1', 'umbrella');
    expect(await type('devs cancel --all --tenant umbrella')).toBe('u-1 is being cancelled\n');
    expect(await type('devs pause --all --metadata release=42 --tenant acme')).toBe(
      'a-2 will stop at its next safe point\na-1 will stop at its next safe point\n',
    );
    await work();
    await stands('u-1', 'cancelled');
    for (const id of ['a-1', 'a-2']) await stands(id, 'paused');
    expect(await type('devs pause --all --tag none')).toBe('No run matches.\n');
    expect(await type('devs retry --all --paused')).toBe(
      'a-1 waits for a worker again\na-2 waits for a worker again\n',
    );
    for (const id of ['a-1', 'a-2']) await stands(id, 'waiting');
    expect(await type('devs retry --all')).toBe('No failed run matches.\n');
    expect(await type('devs status --tenant umbrella')).toMatch(/u-1/);
    expect(await type('devs gates --tenant umbrella')).toBe('There are no open gates.\n');
    expect(await type('devs queue --tenant umbrella')).not.toMatch(/acme/);
  });

  test.each([
    ['pause'],
    ['pause', 'a', '--all'],
    ['cancel', 'a', '--tag', 'x'],
    ['retry'],
    ['retry', 'a', '--all'],
    ['rm'],
    ['rm', '--ended'],
    ['rm', 'a', '--ended', '--older-than', '1d'],
    ['rm', 'a', '--tenant', 'acme'],
  ])('%s %s %s is refused', async (...argv) => {
    const refused = await callMain(dir, argv, { env: { DEVS_DATABASE_URL: cluster.server.url } });
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

test('a code of the engine selects what failed with it', async () => {
  await work();
  const failing = durable(
    new StateGraph(Mail)
      .addNode('fail', () => {
        throw new DevsError('No.', { code: 'VALUE_TOO_LARGE', remedy: 'Less.' });
      })
      .addEdge(START, 'fail'),
    { runs, graph: 'fails' },
  );
  await failing.run('f', { to: 'Ada' }, { throwOnFailure: false });
  expect(await type('devs retry --all --error STATE_IO')).toBe('No failed run matches.\n');
  expect(await type('devs retry --all --error VALUE_TOO_LARGE')).toBe('f waits for a worker again\n');
});
