import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Client } from '@langchain/langgraph-sdk';
import { median, percentile } from '../../core/bench/state/figures.ts';
import { ServerProcess } from '../test/support/ServerProcess.ts';

export interface Sizes {
  readonly waits: number;
  readonly streams: number;
  readonly threads: number;
  readonly runs: number;
}

/** What a server does, in milliseconds and megabytes. */
export interface Figures {
  readonly waitMs: number;
  readonly firstWordMs: number;
  readonly streamsMs: number;
  readonly failedStreams: number;
  readonly searchMs: number;
  readonly searchP95Ms: number;
  readonly grownMb: number;
}

const HELLO = { messages: [{ type: 'human', content: 'hi' }] };
/** Requests that are open at once where only their number matters. */
const LANES = 20;
const FIRST_WORDS = 20;
const SEARCHES = 50;

/** By the clients people use, over loopback. */
export async function measure(url: string, pid: number, sizes: Sizes): Promise<Figures> {
  const client = new Client({ apiUrl: url, apiKey: null });
  await waited(client);
  const waits = await timed(sizes.waits, () => waited(client));
  const firstWords = await timed(FIRST_WORDS, () => firstWord(client));
  const { ms, failed } = await atOnce(client, sizes.streams);
  await inLanes(sizes.threads, async (each) => {
    await client.threads.create({ metadata: { user: `user-${each % 100}`, batch: 'searched' } });
  });
  const searches = await timed(SEARCHES, async (each) => {
    const found = await client.threads.search({ metadata: { user: `user-${each % 100}` }, limit: 10 });
    if (found.length === 0) throw new Error('Found nothing.');
  });
  const fifth = Math.floor(sizes.runs / 5);
  await inLanes(fifth, () => waited(client));
  const before = memoryOf(pid);
  await inLanes(sizes.runs - fifth, () => waited(client));
  return {
    waitMs: median(waits),
    firstWordMs: median(firstWords),
    streamsMs: ms,
    failedStreams: failed,
    searchMs: median(searches),
    searchP95Ms: percentile(searches, 0.95),
    grownMb: memoryOf(pid) - before,
  };
}

async function waited(client: Client): Promise<void> {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'echo', { input: { text: 'hello' } });
}

/** Until the first word of a model has come. */
async function firstWord(client: Client): Promise<void> {
  const { thread_id } = await client.threads.create();
  const stop = new AbortController();
  const options = { input: HELLO, streamMode: 'messages-tuple' as const, signal: stop.signal };
  for await (const { event } of client.runs.stream(thread_id, 'chat', options))
    if (event === 'messages') break;
}

async function atOnce(
  client: Client,
  count: number,
): Promise<{ readonly ms: number; readonly failed: number }> {
  const started = performance.now();
  const one = async (): Promise<void> => {
    const { thread_id } = await client.threads.create();
    let words = 0;
    for await (const { event } of client.runs.stream(thread_id, 'chat', {
      input: HELLO,
      streamMode: ['messages-tuple', 'values'],
    }))
      if (event === 'messages') words += 1;
    if (words === 0) throw new Error('No word came.');
  };
  const ends = await Promise.allSettled(Array.from({ length: count }, one));
  const failed = ends.filter(({ status }) => status === 'rejected').length;
  return { ms: performance.now() - started, failed };
}

async function timed(times: number, act: (each: number) => Promise<void>): Promise<readonly number[]> {
  const all: number[] = [];
  for (let each = 0; each < times; each += 1) {
    const started = performance.now();
    await act(each);
    all.push(performance.now() - started);
  }
  return all;
}

async function inLanes(times: number, act: (each: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < times) {
      next += 1;
      await act(next);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

/** What a process holds, MB; Linux says it. */
function memoryOf(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb) / 1000;
}

export interface Pauses {
  readonly p50: number;
  readonly p95: number;
  readonly most: number;
}

const STEP_MS = 50;

/** From a kill of the server, which is started again at once, to the next event of a stream that a stock client has open. */
export async function killedUnderStream(folder: string, kills: number): Promise<Pauses> {
  const options = { state: join(folder, 'killed.sqlite'), world: join(folder, 'killed-calls.txt') };
  const server = new ServerProcess({ ...options, mode: ['walk', String(STEP_MS)] });
  await server.start();
  const client = new Client({ apiUrl: server.url, apiKey: null });
  const pauses: number[] = [];
  while (pauses.length < kills) {
    const { thread_id } = await client.threads.create();
    let killedAt: number | null = null;
    let seen = 0;
    const stream = client.runs.stream(thread_id, 'walk', { input: { steps: 12 }, streamMode: 'custom' });
    for await (const { event } of stream) {
      if (event !== 'custom') continue;
      seen += 1;
      if (killedAt !== null) pauses.push(performance.now() - killedAt);
      killedAt = null;
      if (seen !== 4 && seen !== 8) continue;
      killedAt = performance.now();
      void server.kill().then(() => server.start());
    }
  }
  await server.kill();
  return { p50: median(pauses), p95: percentile(pauses, 0.95), most: Math.max(...pauses) };
}
