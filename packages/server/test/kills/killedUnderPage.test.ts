import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@langchain/langgraph-sdk';
import { useStream } from '@langchain/langgraph-sdk/react';
import { describe, expect, type TestContext } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { longer } from '../../../core/test/support/longer.ts';
import { tried } from '../../../core/test/support/tried.ts';
import { startPostgres } from '../../../postgres/test/support/startPostgres.ts';
import { test } from '../support/fixtures.ts';
import { mount } from '../support/mount.ts';
import { ServerProcess } from '../support/ServerProcess.ts';
import { startBalancer } from '../support/startBalancer.ts';

// Servers and workers die at any moment while a stock page is open: it goes on by itself, and has been told everything once.

/** Processes that are killed under a page: of one file, and of a cluster. */
const KILLS = howMany('DEVS_AGENT_SERVER_KILLS', 2);
const CLUSTER_KILLS = howMany('DEVS_AGENT_CLUSTER_KILLS', 2);
const STEPS = 12;
/** How long a step takes, ms. */
const STEP_MS = 60;
/** A client gives up after five attempts that follow each other. */
const KILLS_A_PAGE = 2;

/** Ends one of the processes and starts it again. */
type KillOne = () => Promise<void>;

interface Watched {
  /** What the page was told, in order. */
  readonly told: readonly number[];
  /** From each kill to the next event, ms. */
  readonly pauses: readonly number[];
}

/** Opens a page over a run, and kills under it. */
async function watch(apiUrl: string, kills: number, killOne: KillOne): Promise<Watched> {
  const told: number[] = [];
  const pauses: number[] = [];
  let killedAt: number | null = null;
  let thread = '';
  const onCustomEvent = (data: unknown): void => {
    told.push((data as { readonly at: number }).at);
    if (killedAt !== null) pauses.push(performance.now() - killedAt);
    killedAt = null;
  };
  const page = await mount(() => {
    const stream = useStream<{ steps: number; at: number }>({
      ...{ apiUrl, assistantId: 'walk', onCustomEvent, onError: () => {} },
      onThreadId: (id) => {
        thread = id;
      },
    });
    // What a page does not show, it does not get.
    return { stream, at: stream.values.at, isLoading: stream.isLoading };
  });
  void page.now.stream.submit({ steps: STEPS }, { streamResumable: true, onDisconnect: 'continue' });
  await page.until(() => told.length > 0, 'the first event');
  for (let each = 0; each < kills; each += 1) {
    await sleep(randomInt(STEP_MS * 3));
    if (told.length >= STEPS) break;
    killedAt = performance.now();
    await killOne();
    await page.until(() => killedAt === null || told.length >= STEPS, 'an event after the kill');
  }
  await page.until(({ isLoading }) => !isLoading && told.length >= STEPS, 'the end');
  await page.until(({ at }) => at === STEPS, 'the last values');
  page.unmount();
  await assertWhole(apiUrl, thread);
  return { told, pauses };
}

/** Read again from its beginning, the stream has every event of the run once, under positions without a gap. */
async function assertWhole(apiUrl: string, thread: string): Promise<void> {
  const client = new Client({ apiUrl, apiKey: 'key' });
  const [run] = await client.runs.list(thread);
  const path = `${apiUrl}/threads/${thread}/runs/${run?.run_id}/stream?stream_mode=values,updates,custom`;
  const text = await (await fetch(path, { headers: { 'last-event-id': '-1' } })).text();
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids).toEqual(ids.map((_, at) => (ids[0] ?? 0) + at));
  // Each step has an update, values and an event of its own.
  expect(ids.length).toBeGreaterThanOrEqual(3 * STEPS);
}

const ALL = Array.from({ length: STEPS }, (_, at) => at);

async function watchAll(
  { task, annotate }: Pick<TestContext, 'task' | 'annotate'>,
  url: string,
  { kills, killOne }: { readonly kills: number; readonly killOne: KillOne },
): Promise<void> {
  const pauses: number[] = [];
  let done = 0;
  while (done < kills) {
    const now = Math.min(KILLS_A_PAGE, kills - done);
    const watched = await watch(url, now, killOne);
    expect(watched.told).toEqual(ALL);
    pauses.push(...watched.pauses);
    done += now;
  }
  tried(task, { ways: done });
  const sorted = pauses.toSorted((left, right) => left - right);
  const at = (part: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? 0);
  await annotate(
    `${done} kills; from a kill to the next event: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms`,
  );
}

describe('a page that is open while processes are killed', () => {
  test('is told everything once, in order, by a server that is killed and started again', {
    timeout: longer(240_000, KILLS / 8),
  }, async ({ dir, onTestFinished, task, annotate }) => {
    const ports: number[] = [];
    const balancer = await startBalancer(() => ports);
    onTestFinished(() => balancer.close());
    const server = new ServerProcess({
      state: join(dir, 'state.sqlite'),
      world: join(dir, 'calls.txt'),
      mode: ['walk', String(STEP_MS)],
      seenAs: balancer.port,
    });
    onTestFinished(() => server.kill());
    await server.start();
    ports.push(server.port);
    const killOne = async (): Promise<void> => {
      await server.kill();
      await server.start();
    };
    const url = `http://127.0.0.1:${balancer.port}`;
    await watchAll({ task, annotate }, url, { kills: KILLS, killOne });
  });

  test('is told everything once by two servers and two workers over PostgreSQL, any of which is killed', {
    timeout: longer(240_000, CLUSTER_KILLS / 8),
  }, async ({ dir, onTestFinished, task, annotate }) => {
    const database = await startPostgres();
    onTestFinished(() => database.stop());
    const common = { state: database.url, world: join(dir, 'calls.txt'), mode: ['walk', String(STEP_MS)] };
    const servers: ServerProcess[] = [];
    const balancer = await startBalancer(() => servers.map(({ port }) => port));
    onTestFinished(() => balancer.close());
    const make = (role: 'server' | 'worker'): ServerProcess =>
      new ServerProcess({ ...common, role, seenAs: balancer.port });
    servers.push(make('server'), make('server'));
    const all = [...servers, make('worker'), make('worker')];
    onTestFinished(async () => {
      for (const each of all) await each.kill();
    });
    // The first one makes the tables.
    for (const each of all) await each.start();
    const killOne = async (): Promise<void> => {
      const one = all[randomInt(all.length)];
      await one?.kill();
      await one?.start();
    };
    const url = `http://127.0.0.1:${balancer.port}`;
    await watchAll({ task, annotate }, url, { kills: CLUSTER_KILLS, killOne });
  });
});
