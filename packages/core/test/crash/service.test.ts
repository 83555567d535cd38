import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { type Effect, effectsIn } from '../../../../examples/graphs/support/world.ts';
import { proxy } from '../../../../examples/service/proxy.ts';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { listOf } from '../support/listOf.ts';
import { longer } from '../support/longer.ts';
import { programFile } from '../support/programFile.ts';
import { recordedKeys } from '../support/recordedKeys.ts';

/** Runs at once, and deaths among them. */
const RUNS = howMany('DEVS_SERVICE_RUNS', 4);
const DEATHS = howMany('DEVS_SERVICE_DEATHS', 3);

const program = new URL('../../../../examples/service/main.ts', import.meta.url);

interface Process {
  readonly child: ChildProcess;
  readonly port: number;
  /** Ends, however it does; what it printed as an error. */
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
}

/** One process of the service; `port` 0 is any free one. */
async function start(dbPath: string, ledger: string, port = 0): Promise<Process> {
  const child = spawn(process.execPath, [programFile(program), dbPath, ledger, String(port)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }));
  onTestFinished(() => void child.kill('SIGKILL'));
  const told = await Promise.race([once(child.stdout, 'data'), ended]);
  if (!Array.isArray(told)) throw new Error(told.stderr);
  return { child, ended, port: Number(new URL(String(told[0]).trim()).port) };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Asks until somebody answers: a connection may end with the process that had it. */
async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  for (;;) {
    try {
      const response = await fetch(url, { ...init, headers: { connection: 'close', ...init.headers } });
      await response.clone().arrayBuffer();
      return response;
    } catch {
      await sleep(20);
    }
  }
}

const posting = (body: object, user?: string): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(body),
  ...(user !== undefined && { headers: { 'x-user': user } }),
});

interface Told {
  readonly seq: number;
  readonly mode: string;
  readonly gate?: { readonly sessionId: string; readonly artifactHash: string };
  readonly status?: string;
}

/** One connection, as far as it lasts: the process it is to may go away. */
async function* connection(url: string, last: string): AsyncGenerator<Told> {
  try {
    const { body } = await fetch(url, { headers: { 'last-event-id': last, connection: 'close' } });
    let text = '';
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      yield* blocks.map(toldIn);
    }
  } catch {
    // Whoever reads connects again.
  }
}

function toldIn(block: string): Told {
  const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
  const told = JSON.parse(fields.get('data') ?? '') as Told;
  expect([fields.get('id'), fields.get('event')]).toEqual([String(told.seq), told.mode]);
  return told;
}

/** What a browser's EventSource does: reads, and connects again with the id of the last event it has. */
async function* eventsOf(url: string): AsyncGenerator<Told> {
  for (let last = '0'; ; await sleep(20)) {
    for await (const told of connection(url, last)) {
      last = String(told.seq);
      yield told;
      if (told.mode === 'end') return;
    }
  }
}

/** What whoever reads a run once it has ended is told. */
const allOf = (url: string): Promise<readonly Told[]> => listOf(eventsOf(url));

/** A user: starts a run, reads it to its end, and says yes to what it asks. */
async function use(url: string, id: string, onEvent: () => void): Promise<readonly Told[]> {
  const started = await ask(`${url}/runs/${id}`, posting({ topic: id }));
  expect(started.status).toBe(202);
  const events: Told[] = [];
  for await (const event of eventsOf(`${url}/runs/${id}/stream`)) {
    events.push(event);
    onEvent();
    if (event.gate === undefined) continue;
    const { sessionId, artifactHash } = event.gate;
    const answer = posting({ hash: artifactHash, approved: true }, 'ada');
    const { status } = await ask(`${url}/gates/${sessionId}`, answer);
    expect([200, 409]).toContain(status); // 409: it was recorded, and its answer was lost
  }
  return events;
}

/** The calls whose results are in the state file, and how many were made by then. */
function recordedIn(
  dbPath: string,
  ledger: string,
): { readonly keys: ReadonlySet<string>; readonly made: number } {
  return { keys: recordedKeys(dbPath), made: effectsIn(ledger).length };
}

describe('two processes of the example service over one file, with a proxy in front', () => {
  test('bring every run to its end while either is killed; nothing recorded is made again, each event is read once', {
    timeout: longer(60_000, RUNS / 4),
  }, async ({ dbPath }) => {
    const ledger = join(dirname(dbPath), 'ledger.jsonl');
    const processes = [await start(dbPath, ledger), await start(dbPath, ledger)];
    const url = `http://127.0.0.1:${await listening(proxy(processes.map(({ port }) => port)))}`;

    let seen = 0;
    const total = RUNS * 5; // three nodes, a gate and an end
    const before: ReturnType<typeof recordedIn>[] = [];
    const endings: Process['ended'][] = [];
    /** Each death comes once so many events were read: the last but one is asked to leave. */
    const kill = async (): Promise<void> => {
      for (let death = 0; death < DEATHS; death += 1) {
        while (seen < ((death + 0.5) * total) / DEATHS) await sleep(5);
        const at = death % processes.length;
        const dying = processes[at] as Process;
        dying.child.kill(death === DEATHS - 1 ? 'SIGTERM' : 'SIGKILL');
        const { code, stderr } = await dying.ended;
        expect([code, stderr]).toEqual([death === DEATHS - 1 ? 0 : null, '']);
        before.push(recordedIn(dbPath, ledger));
        processes[at] = await start(dbPath, ledger, dying.port);
      }
    };
    const ids = Array.from({ length: RUNS }, (_, at) => `post-${at}`);
    const [, ...read] = await Promise.all([kill(), ...ids.map((id) => use(url, id, () => (seen += 1)))]);

    for (const [at, events] of read.entries()) {
      expect(events).toEqual(await allOf(`${url}/runs/${ids[at]}/stream`));
      expect(events.map(({ mode }) => mode)).toEqual(['updates', 'updates', 'gate', 'updates', 'end']);
      expect(events.at(-1)).toMatchObject({ status: 'completed' });
    }
    const effects = effectsIn(ledger);
    for (const { keys, made } of before) {
      expect(effects.slice(made).filter(({ key }) => keys.has(key))).toEqual([]);
    }
    const whatOf = new Set(effects.map(({ what }: Effect) => what));
    expect(whatOf.size).toBe(RUNS * 3);
    const again = effects.length - whatOf.size;
    expect(again).toBeLessThanOrEqual(DEATHS * RUNS); // at most what was in flight

    for (const { child, ended } of processes) {
      child.kill('SIGTERM');
      endings.push(ended);
    }
    expect(await Promise.all(endings)).toEqual(processes.map(() => ({ code: 0, stderr: '' })));
  });

  test('answers in words that a client can act on', async ({ dbPath }) => {
    const ledger = join(dirname(dbPath), 'ledger.jsonl');
    const { port } = await start(dbPath, ledger);
    const url = `http://127.0.0.1:${port}`;
    const statusOf = async (path: string, init?: RequestInit) => (await ask(`${url}${path}`, init)).status;

    expect(await statusOf('/runs/none')).toBe(404);
    expect(await statusOf('/runs/none/stream')).toBe(404);
    expect(await statusOf('/runs/a', { method: 'POST', body: 'no JSON' })).toBe(400);
    expect(await statusOf('/runs?limit=x')).toBe(400);
    expect(await statusOf('/inbox?after=x')).toBe(400);
    expect(await statusOf('/runs/a', posting({ topic: 'tea' }))).toBe(202);
    expect(await statusOf('/runs/a', posting({ topic: 'tea' }))).toBe(202);
    expect(await statusOf('/runs/a', posting({ topic: 'coffee' }))).toBe(409);
    expect(await statusOf('/runs/a/stream', { headers: { 'last-event-id': '-1' } })).toBe(400);

    let gates: readonly { readonly sessionId: string; readonly artifactHash: string }[] = [];
    while (gates.length === 0)
      ({ gates } = (await (await ask(`${url}/inbox`)).json()) as { gates: typeof gates });
    const [{ sessionId, artifactHash: hash } = { sessionId: '', artifactHash: '' }] = gates;
    expect(await statusOf(`/gates/${sessionId}`, posting({ hash, approved: true }))).toBe(401);
    expect(await statusOf(`/gates/${sessionId}`, posting({ hash, approved: 'yes' }, 'ada'))).toBe(400);
    expect(
      await statusOf(`/gates/${sessionId}`, posting({ hash: 'f'.repeat(64), approved: true }, 'ada')),
    ).toBe(409);
    expect(await statusOf('/gates/none', posting({ hash, approved: true }, 'ada'))).toBe(404);
    const forged = { hash, approved: true, by: { kind: 'human', id: 'root' } };
    await ask(`${url}/gates/${sessionId}`, posting(forged, 'ada'));
    const db = createDatabase({ dbPath });
    const deciders = db.prepare('SELECT DISTINCT principal_id FROM hitl_sessions').pluck();
    expect(deciders.all()).toEqual(['ada']);
    db.close();
    expect(effectsIn(ledger).length).toBeGreaterThan(0);
  });
});
