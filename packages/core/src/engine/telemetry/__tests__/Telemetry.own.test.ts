import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database, Statement } from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, onTestFinished } from 'vitest';
import { type Answer, Collector } from '../../../../test/support/Collector.ts';
import { test } from '../../../../test/support/fixtures.ts';
import { interceptStatements } from '../../../../test/support/interceptStatements.ts';
import { only } from '../../../../test/support/only.ts';
import type { ReceivedSpan } from '../../../../test/support/otlpMessages.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { EventBus } from '../../../events/events.ts';
import { StateFile } from '../../../state/StateFile.ts';
import { MemoryRuns } from '../../../testing/MemoryRuns.ts';
import { durable } from '../../app/durable.ts';
import { step } from '../../node/step.ts';
import { otlpExporter, otlpMetricExporter, type SpanExporter } from '../otlpExporter.ts';
import { spansOf } from '../runSpans.ts';
import { type TelemetryOptions, telemetryOptions } from '../Telemetry.ts';

const ADA = { kind: 'human', id: 'ada' } as const;
const HOUR_MS = 3_600_000;
const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const PROTOCOL = 'OTEL_EXPORTER_OTLP_PROTOCOL';
const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;

const before = { ...process.env };
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

const Post = Annotation.Root({ text: Annotation<string> });

const posts = (secret = '') =>
  new StateGraph(Post)
    .addNode('write', async () => ({ text: await step('draft', () => `green tea ${secret}`) }))
    .addNode('publish', async ({ text }) => ({ text: await step('send', () => text) }))
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END);

interface How {
  readonly telemetry?: boolean | TelemetryOptions;
  readonly now?: () => number;
  readonly secret?: string;
}

function open(db: Database, { telemetry = true, now = Date.now, secret = '' }: How = {}) {
  const gates = { publish: ({ text }: { text: string }) => text };
  return durable(posts(secret), { db, name: 'posts', gates, telemetry, now });
}

/** Of the protocol that the variable says. */
async function collector(answer?: () => Answer): Promise<Collector> {
  const made = await (process.env[PROTOCOL] === 'grpc'
    ? Collector.startGrpc(answer)
    : Collector.start(answer));
  onTestFinished(() => made.stop());
  process.env[ENDPOINT] = made.url;
  return made;
}

/** Counts statements of one connection. */
function countStatements(db: Database, counts: (statement: Statement) => boolean): () => number {
  let count = 0;
  interceptStatements(db, (work, statement) => {
    if (counts(statement)) count += 1;
    return work();
  });
  return () => count;
}

const sent = { wait: false } as const;

async function throughGate(app: ReturnType<typeof open>, id: string): Promise<void> {
  const { gates } = await app.run(id, { text: '' });
  await app.decide(only(gates), { approved: true, by: ADA });
  await app.run(id);
}

const isWhole = (spans: readonly ReceivedSpan[]): boolean => {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return spans.every(({ parentSpanId }) => parentSpanId === '' || ids.has(parentSpanId));
};

/** Names of the spans that a run has, as they are in its file. */
const namesIn = (db: Database, id: string): readonly string[] =>
  spansOf(id, new StateFile(db, { events: new EventBus() }))
    .map(({ name }) => name)
    .toSorted();

describe('telemetry', () => {
  test.for(PROTOCOLS)(
    'sends each span once, as %s, without content, and the tree is whole',
    async (protocol, { db }) => {
      process.env[PROTOCOL] = protocol;
      process.env['OTEL_EXPORTER_OTLP_HEADERS'] = 'x-tenant=acme';
      process.env['OTEL_EXPORTER_OTLP_COMPRESSION'] = 'gzip';
      process.env['OTEL_SERVICE_NAME'] = 'blog';
      process.env['OTEL_RESOURCE_ATTRIBUTES'] = 'deployment.environment=test%20one,service.name=other';
      const { taken, spans, headers, bodies } = await collector().then(async (there) => {
        const app = open(db);
        const { gates } = await app.run('post-1', { text: '' });
        await app.sendWebhooks(sent);
        await app.decide(only(gates), { approved: true, by: ADA, feedback: 'a fine post' });
        await app.run('post-1');
        await app.sendWebhooks(sent);
        await app.sendWebhooks(sent);
        return there;
      });
      expect(headers['x-tenant']).toBe('acme');
      expect(Buffer.concat(bodies).toString('latin1')).not.toMatch(/green tea|a fine post/);
      expect(taken.map(({ name }) => name).toSorted()).toEqual(namesIn(db, 'post-1'));
      expect(spans).toHaveLength(taken.length);
      expect(isWhole(spans)).toBe(true);
      const [first] = taken;
      expect(first).toMatchObject({ name: 'step draft', kind: 3, resource: { 'service.name': 'blog' } });
      expect(first?.resource['deployment.environment']).toBe('test one');
      const gate = only(taken.filter(({ name }) => name === 'gate node_gate'));
      expect(gate).toMatchObject({ kind: 1, attributes: { 'devs.gate.decider': 'human:ada' } });
      expect(gate.endTimeUnixNano).toBeGreaterThanOrEqual(gate.startTimeUnixNano);
      expect(only(taken.filter(({ parentSpanId }) => parentSpanId === '')).attributes['devs.outcome']).toBe(
        'completed',
      );
    },
  );

  test.for(PROTOCOLS)(
    'is sent again until it is taken, and later ones of the run wait, as %s',
    async (protocol, { db }) => {
      process.env[PROTOCOL] = protocol;
      const answers: Answer[] = [404, 400];
      const there = await collector(() => answers.shift() ?? 200);
      let at = Date.now();
      const app = open(db, { now: () => at });
      await throughGate(app, 'post-1');
      for (let attempt = 0; attempt < 3; attempt += 1) {
        await app.sendWebhooks(sent);
        if (attempt < 2) {
          expect(there.taken).toEqual([]);
          expect((await app.undelivered())[0]).toMatchObject({ target: 'otlp:posts', attempts: attempt + 1 });
        }
        at += HOUR_MS;
      }
      expect(there.spans.map(({ name }) => name).toSorted()).toEqual(namesIn(db, 'post-1'));
      expect(isWhole(there.spans)).toBe(true);
      expect(await app.undelivered()).toEqual([]);
    },
  );

  test('is sent over gRPC once the collector is there again', async ({ db }) => {
    process.env[PROTOCOL] = 'grpc';
    const gone = await collector();
    let at = Date.now();
    const app = open(db, { now: () => at });
    await throughGate(app, 'post-1');
    await gone.stop();
    await app.sendWebhooks(sent);
    expect((await app.undelivered())[0]).toMatchObject({
      attempts: 1,
      error: expect.stringContaining('UNAVAILABLE'),
    });
    const there = await Collector.startGrpc(undefined, Number(new URL(gone.url).port));
    onTestFinished(() => there.stop());
    const isSent = async (): Promise<boolean> => {
      at += HOUR_MS;
      await app.sendWebhooks(sent);
      return (await app.undelivered()).length === 0;
    };
    // gRPC itself connects again after a second.
    await expect.poll(isSent, { timeout: 20_000 }).toBe(true);
    expect(there.spans.map(({ name }) => name).toSorted()).toEqual(namesIn(db, 'post-1'));
    await app.close();
  });

  test.for(PROTOCOLS)('that a collector takes in part is not sent again, as %s', async (protocol, { db }) => {
    process.env[PROTOCOL] = protocol;
    const there = await collector(() => 'partial');
    const app = open(db);
    await throughGate(app, 'post-1');
    await app.sendWebhooks(sent);
    const requests = there.bodies.length;
    await app.sendWebhooks(sent);
    expect(there.bodies).toHaveLength(requests);
    expect(await app.undelivered()).toEqual([]);
  });

  test('costs a driver no statement', async ({ dbPath }) => {
    const made: { readonly texts: Set<string>; readonly writes: number }[] = [];
    for (const telemetry of [false, true]) {
      const db = createDatabase({ dbPath: `${dbPath}-${telemetry}` });
      const texts = new Set<string>();
      const writes = countStatements(db, ({ source, reader }) => texts.add(source) && !reader);
      await throughGate(open(db, { telemetry }), 'post-1');
      made.push({ texts, writes: writes() });
      expect(db.prepare('SELECT count(*) FROM gate_events').pluck().get()).toBe(2);
      db.close();
    }
    const [without, withTelemetry] = made;
    expect(without?.writes).toBeGreaterThan(30);
    expect(withTelemetry?.writes).toBe(without?.writes);
    expect([...(withTelemetry?.texts ?? [])].filter((text) => without?.texts.has(text) !== true)).toEqual([]);
  });

  test.for(['http/protobuf', 'grpc'])(
    'lets a driver wait for nothing with a collector that is down or silent, and write as little, as %s',
    async (protocol, { dbPath }) => {
      process.env[PROTOCOL] = protocol;
      const writes = (statement: Statement) => !statement.reader;
      const driven = async (name: string, tends: boolean): Promise<number> => {
        const db = createDatabase({ dbPath: `${dbPath}-${name}` });
        const count = countStatements(db, writes);
        // The sender has a connection of its own, as another process has.
        const other = createDatabase({ dbPath: `${dbPath}-${name}` });
        const end = new AbortController();
        const now = () => 1_700_000_000_000;
        const app = open(db, { now });
        const { gates } = await app.run('post-1', { text: '' });
        const tended = tends ? open(other, { now }).tend({ signal: end.signal }) : null;
        if (tends)
          await expect
            .poll(() => other.prepare('SELECT attempts FROM webhook_deliveries').pluck().get())
            .toBe(1);
        await app.decide(only(gates), { approved: true, by: ADA });
        await app.run('post-1');
        end.abort();
        await tended;
        for (const opened of [db, other]) opened.close();
        return count();
      };
      const alone = await driven('alone', false);
      const silent = await collector(() => 'silent');
      const ended = driven('silent', true);
      await expect.poll(() => silent.bodies.length, { timeout: 20_000 }).toBe(1);
      await silent.stop();
      expect(await ended).toBe(alone);
      process.env[ENDPOINT] = 'http://127.0.0.1:9';
      expect(await driven('down', true)).toBe(alone);
    },
  );

  test('has none of twenty secrets, in any place of a run', async ({ db }) => {
    const there = await collector();
    const secrets = Array.from(
      { length: 20 },
      (_, n) => `sk-ant-api03-${`${n}`.padStart(2, '0')}${'aB3dE5'.repeat(15)}AA`,
    );
    const [inResult, inError, inInput, inNode, inWords, inId] = secrets;
    const graph = new StateGraph(Post)
      .addNode('write', async () => {
        for (const [at, secret] of secrets.entries())
          await step(`draft ${at} ${secret}`, () => `${inResult} ${secret}`);
        return { text: `${inNode}` };
      })
      .addNode('fail', () => {
        throw new TypeError(`refused ${inError} ${secrets.join(' ')}`);
      })
      .addEdge(START, 'write')
      .addEdge('write', 'fail');
    for (const content of [false, true]) {
      const app = durable(graph, {
        ...{ db, name: `posts${content}`, telemetry: { content } },
        gates: { fail: ({ text }) => text },
      });
      const id = `post-${content}-${inId}`;
      const { gates } = await app.run(id, { text: `${inInput}` }, { turn: `${inInput}` });
      await app.decide(only(gates), {
        approved: true,
        feedback: `${inWords}`,
        by: { kind: 'human', id: `${inId}` },
      });
      await app.run(id, undefined, { throwOnFailure: false });
      await app.sendWebhooks(sent);
    }
    expect(there.spans.filter(({ name }) => name.startsWith('step draft'))).toHaveLength(40);
    const all = Buffer.concat(there.bodies).toString('latin1');
    expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
    expect(all).toContain('refused');
  });

  test('over runs with files of their own is sent as well', async () => {
    const there = await collector();
    const gates = { publish: ({ text }: { text: string }) => text };
    const app = durable(posts(), { runs: new MemoryRuns(), name: 'posts', gates, telemetry: true });
    await throughGate(app as unknown as ReturnType<typeof open>, 'post-1');
    await app.sendWebhooks(sent);
    expect(there.spans.map(({ name }) => name).toSorted()).toEqual([
      ...[
        'gate node_gate',
        'invoke_workflow posts',
        'node publish',
        'node write',
        'step draft',
        'step send',
        'turn 1',
      ],
    ]);
    expect(isWhole(there.spans)).toBe(true);
    await app.close();
  });

  test('of a run of last month is sent when it is asked for, and again with the same ids', async ({ db }) => {
    const there = await collector();
    await throughGate(open(db, { telemetry: false, now: () => Date.now() - 31 * 24 * HOUR_MS }), 'post-1');
    const app = open(db);
    await app.sendWebhooks(sent);
    expect(there.taken).toEqual([]);
    expect(await app.exportTrace('post-1')).toBe(7);
    expect(await app.exportTrace('post-1')).toBe(7);
    expect(there.taken).toHaveLength(14);
    expect(there.spans).toHaveLength(7);
    await expect(app.exportTrace('nobody')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  });

  test.for(PROTOCOLS)('has the metrics of a file, as %s', async (protocol, { db }) => {
    process.env[PROTOCOL] = protocol;
    process.env['OTEL_METRIC_EXPORT_INTERVAL'] = '40';
    const there = await collector();
    const graph = new StateGraph(Post)
      .addNode('write', async () => ({
        text: await step('draft', ({ usage }) => {
          usage({ tokensIn: 12, tokensOut: 5, costUsd: 0.25 });
          return 'green tea';
        }),
      }))
      .addNode('publish', () => ({}))
      .addEdge(START, 'write')
      .addEdge('write', 'publish');
    const gates = { publish: ({ text }: { text: string }) => text };
    const app = durable(graph, { db, name: 'posts', gates, telemetry: true });
    await app.run('post-1', { text: '' });
    const opened = await app.run('post-2', { text: '' });
    await app.decide(only(opened.gates), { approved: true, by: ADA });
    await app.run('post-2');
    const end = new AbortController();
    const tended = app.tend({ signal: end.signal });
    app.events.emit('LEASE_LOST', { epoch: 2 }, { threadId: 'post-1' });
    await expect.poll(() => there.valueOf('devs_calls_total')).toBe(2);
    end.abort();
    await tended;
    const { value = 0 } = there.pointsOf('devs_gates_oldest_seconds')[0] ?? {};
    expect(value).toBeGreaterThan(0);
    expect(value).toBeLessThan(60);
    expect(there.pointsOf('devs_runs')).toEqual(
      expect.arrayContaining([
        { labels: { tenant: 'default', status: 'waiting' }, value: 1 },
        { labels: { tenant: 'default', status: 'completed' }, value: 1 },
      ]),
    );
    expect(there.pointsOf('devs_tokens_total')).toEqual([
      { labels: { type: 'input' }, value: 24 },
      { labels: { type: 'output' }, value: 10 },
    ]);
    expect(
      ['devs_gates_open', 'devs_cost_usd_total', 'devs_leases_lost_total'].map((name) => there.valueOf(name)),
    ).toEqual([1, 0.5, 1]);
    const [{ resource, isCounter } = {}] = there.metrics;
    expect(isCounter).toBe(false);
    expect(resource).toMatchObject({
      'service.name': 'devs',
      'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test('has the metrics of a cluster, and none if they are switched off', async () => {
    process.env['OTEL_METRIC_EXPORT_INTERVAL'] = '40';
    const there = await collector();
    const gates = { publish: ({ text }: { text: string }) => text };
    const app = durable(posts(), { runs: new MemoryRuns(), name: 'posts', gates, telemetry: true });
    await app.run('post-1', { text: '' });
    const tend = async (until: () => unknown): Promise<void> => {
      const end = new AbortController();
      const tended = app.tend({ signal: end.signal });
      await expect.poll(until).toBe(1);
      end.abort();
      await tended;
    };
    await tend(() => there.valueOf('devs_gates_open'));
    expect(there.pointsOf('devs_runs')).toEqual([
      { labels: { tenant: 'default', status: 'waiting' }, value: 1 },
    ]);
    there.metrics = [];
    process.env['OTEL_METRICS_EXPORTER'] = 'none';
    const looks = [0, 0, 0, 1];
    await tend(() => looks.shift() ?? 1);
    expect(there.metrics).toEqual([]);
    await app.close();
  });

  test('goes through an exporter of yours', async ({ db }) => {
    const names: string[] = [];
    const exporter: SpanExporter = {
      export: (spans, done) => {
        names.push(...spans.map((span) => (span as { readonly name: string }).name));
        done({ code: 0 });
      },
      shutdown: async () => {},
    };
    const app = open(db, { telemetry: { exporter } });
    await throughGate(app, 'post-1');
    await app.sendWebhooks(sent);
    expect(names.toSorted()).toEqual(namesIn(db, 'post-1'));
  });

  test('is off without the option, and by the variables of OpenTelemetry', () => {
    const env = (name: string, value: string) => telemetryOptions(true, { [name]: value });
    expect([telemetryOptions(undefined, {}), telemetryOptions(false, {})]).toEqual([null, null]);
    expect([env('OTEL_SDK_DISABLED', 'TRUE'), env('OTEL_TRACES_EXPORTER', 'none')]).toEqual([null, null]);
    expect(telemetryOptions(true, {})).toEqual({});
  });

  test.for([
    [{ exporters: {} }, /exporters/],
    [{ exporter: {} }, /exporter/],
    [{ metricExporter: {} }, /metricExporter/],
    [{ content: 'yes' }, /content/],
    ['yes', /object/],
  ] as const)('with wrong options is refused: %j', ([telemetry, message], { db }) => {
    const make = () => open(db, { telemetry: telemetry as unknown as TelemetryOptions });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  test('says which package is missing, and which protocol there is not', () => {
    const make = (protocol: string) => () => otlpExporter({ [PROTOCOL]: protocol }, () => null);
    expect(make('thrift')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        remedy: 'Set it to http/protobuf, http/json, grpc.',
      }),
    );
    const remedy = 'Run npm install @opentelemetry/exporter-trace-otlp-grpc';
    expect(make('grpc')).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', remedy }));
    expect(() => otlpMetricExporter({}, () => null)).toThrow(
      expect.objectContaining({
        remedy:
          'Run npm install @opentelemetry/exporter-metrics-otlp-proto, or set OTEL_METRICS_EXPORTER=none',
      }),
    );
  });
});
