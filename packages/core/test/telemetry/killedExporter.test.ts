import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { spanIdOf } from '../../src/state/steps/spanIds.ts';
import { type Answer, Collector } from '../support/Collector.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { only } from '../support/only.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { tracedApp } from './tracedGraph.ts';

const RUNS = howMany('DEVS_TRACE_RUNS', 2);
const KILLS = howMany('DEVS_TRACE_KILLS', 1);
/** Of 100 requests, so many fail; each failure costs a second. */
const FAILURES = howMany('DEVS_TRACE_FAILURES', 1) - 1;
/** The run, its turn, its two nodes, its two steps, and its gate. */
const SPANS = 7;
const MINUTE_MS = 60_000;
/** So long an exporter that died counts as alive: the clock of the next one is ahead. */
const HELD_MS = 31_000;

const child = 'packages/core/test/telemetry/exporter.child.ts';

test(
  'an exporter that is killed, and a collector that may fail: each span arrives once by its id, the tree is whole',
  async ({ dbPath }) => {
    const collector = await Collector.start((): Answer => (Math.random() * 100 < FAILURES ? 400 : 200));
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const app = tracedApp(dbPath);
    const killing = (async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const exporter = spawnProgram(child, [dbPath, `${kill * HELD_MS}`], env);
        const enough = ((kill + 1) * RUNS * SPANS) / (KILLS + 2);
        while (collector.spans.length < enough) await sleep(5);
        exporter.child.kill('SIGKILL');
        const { signal, stderr } = await exporter.finished;
        expect(signal, stderr).toBe('SIGKILL');
      }
    })();
    for (let run = 0; run < RUNS; run += 1) {
      const { gates } = await app.run(`post-${run}`, { text: '' });
      await app.decide(only(gates), { approved: true, by: { kind: 'human', id: 'ada' } });
      await app.run(`post-${run}`);
    }
    await killing;
    const last = spawnProgram(child, [dbPath, `${KILLS * HELD_MS}`], env);
    while ((await app.undelivered()).length > 0 || collector.spans.length < RUNS * SPANS) await sleep(20);
    last.child.kill('SIGKILL');
    await last.finished;
    app.close();
    await collector.stop();
    const spans = new Map(collector.spans.map((span) => [span.spanId, span]));
    expect(spans.size).toBe(RUNS * SPANS);
    const texts = new Map<string, Set<string>>();
    for (const span of collector.taken)
      texts.set(span.spanId, (texts.get(span.spanId) ?? new Set()).add(JSON.stringify(span, asText)));
    for (const { spanId, traceId, parentSpanId } of spans.values()) {
      expect(texts.get(spanId)?.size).toBe(1);
      if (parentSpanId !== '') expect(spans.get(parentSpanId)?.traceId).toBe(traceId);
    }
    for (let run = 0; run < RUNS; run += 1) expect(spans.has(spanIdOf(`post-${run}`))).toBe(true);
  },
  MINUTE_MS * (1 + KILLS),
);

const asText = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;
