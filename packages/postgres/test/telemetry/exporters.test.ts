import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, Collector } from '../../../core/test/support/Collector.ts';
import type { ReceivedSpan } from '../../../core/test/support/otlpMessages.ts';
import { programFile } from '../../../core/test/support/programFile.ts';
import { type Cluster, startCluster } from '../support/startCluster.ts';
import { postsApp, SPANS, SPANS_AT_GATE } from './postsApp.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const PROGRAM = new URL('exporter.child.ts', import.meta.url);
const ADA = { kind: 'human', id: 'ada' } as const;
const RUNS = 8;
/** So many wait at their gate to the end. */
const WAITING = 2;

let cluster: Cluster;
let dir: string;
const workers = new Map<string, ChildProcess>();
beforeAll(async () => {
  cluster = await startCluster();
  dir = mkdtempSync(join(tmpdir(), 'devs-exporters-'));
});
afterAll(async () => {
  for (const name of workers.keys()) await kill(name);
  await cluster.stop();
  rmSync(dir, { recursive: true });
});

async function start(name: string, collector: string): Promise<void> {
  const child = spawn(execPath, [programFile(PROGRAM), cluster.server.url, dir], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...env,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector,
      OTEL_EXPORTER_OTLP_HEADERS: `x-worker=${name}`,
      OTEL_METRIC_EXPORT_INTERVAL: '200',
    },
  });
  workers.set(name, child);
  await once(child.stdout, 'data');
}

async function kill(name: string): Promise<void> {
  const child = workers.get(name);
  if (child === undefined || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Claims of a sender that is gone end after 30 seconds; here they end now. Returns the runs of everything that is claimed. */
async function endClaims(): Promise<ReadonlySet<string>> {
  const rows = await cluster.sql(
    'UPDATE devs.webhook_deliveries SET next_at = now() WHERE attempts > 0 RETURNING run_id',
  );
  return new Set(rows.map((row) => String(row['run_id'])));
}

const namesOf = (spans: readonly ReceivedSpan[]): readonly string[] =>
  spans.map(({ name }) => name).toSorted();

const asText = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

describe('two workers of a cluster that export', () => {
  test('send each span once by its id, and the numbers of the cluster; after a kill the other one sends what was in flight', async () => {
    let isFailing = false;
    let victim: string | null = null;
    const answer = ({ ofMetrics }: { readonly ofMetrics: boolean }): Answer => {
      const name = String(collector.headers['x-worker']);
      // Of metrics nothing is claimed: a worker chosen by such a request may have no span in flight.
      if (isFailing && !ofMetrics && name !== 'undefined') victim ??= name;
      return name === victim ? 'silent' : 200;
    };
    const collector: Collector = await Collector.start(answer);
    const app = postsApp(cluster.runs());
    const ids = Array.from({ length: RUNS }, (_, nth) => `post-${nth}`);
    await Promise.all(['one', 'two'].map((name) => start(name, collector.url)));
    const openGates = async () => (await app.openGates({ limit: RUNS })).gates;
    for (const id of ids) await app.start(id, { text: '' });
    await expect.poll(async () => (await openGates()).length).toBe(RUNS);
    await expect.poll(() => collector.spans.length).toBe(RUNS * SPANS_AT_GATE.length);
    // Each event belongs to one of them.
    expect(collector.taken).toHaveLength(collector.spans.length);

    isFailing = true;
    const decided = (await openGates()).slice(WAITING);
    for (const gate of decided) await app.decide(gate, { approved: true, by: ADA });
    await expect.poll(() => victim).not.toBeNull();
    await kill(String(victim));
    const inFlight = await endClaims();
    expect(inFlight.size).toBeGreaterThan(0);
    const completed = decided.map(({ threadId }) => threadId);
    const wanted = completed.length * SPANS.length + WAITING * SPANS_AT_GATE.length;
    await expect.poll(() => collector.spans.length, { timeout: 60_000 }).toBe(wanted);
    await expect.poll(() => app.undelivered()).toEqual([]);

    for (const id of ids) {
      const spans = collector.spans.filter(({ attributes }) => attributes['devs.run.id'] === id);
      const isCompleted = completed.includes(id);
      expect(namesOf(spans)).toEqual(isCompleted ? SPANS : SPANS_AT_GATE);
      const own = new Set(spans.map(({ spanId }) => spanId));
      const isWhole = spans.every(({ parentSpanId }) => parentSpanId === '' || own.has(parentSpanId));
      expect(isWhole).toBe(isCompleted);
    }
    for (const { spanId, attributes } of collector.spans) {
      const sent = collector.taken.filter((span) => span.spanId === spanId);
      expect(new Set(sent.map((span) => JSON.stringify(span, asText))).size).toBe(1);
      if (sent.length > 1) expect(inFlight).toContain(attributes['devs.run.id']);
    }
    await expect.poll(() => collector.valueOf('devs_gates_open')).toBe(WAITING);
    await expect
      .poll(() => collector.pointsOf('devs_runs'))
      .toEqual([
        { labels: { tenant: 'default', status: 'completed' }, value: completed.length },
        { labels: { tenant: 'default', status: 'waiting' }, value: WAITING },
      ]);
    await collector.stop();
  });
});
