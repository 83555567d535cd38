// OpenTelemetry's own exporters send spans and metrics. They are optional: they are loaded with the first to send.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DevsError } from '../../errors/DevsError.ts';
import type { AppMetric } from './AppMeters.ts';
import type { RunSpan, SpanPlace } from './RunSpan.ts';

/** As of OpenTelemetry's exporters. @template Batch - What it sends with one request. */
export interface Exporter<Batch> {
  export(batch: Batch, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
  shutdown(): Promise<void>;
}

/** As of OpenTelemetry's exporters of spans. */
export type SpanExporter = Exporter<readonly object[]>;

/** As of OpenTelemetry's exporters of metrics. */
export type MetricExporter = Exporter<object>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Ends of the names of packages, by the values of `OTEL_EXPORTER_OTLP_PROTOCOL`. */
const PROTOCOLS = { 'http/protobuf': 'proto', 'http/json': 'http', grpc: 'grpc' } as const;

type Protocol = keyof typeof PROTOCOLS;

/** What can be sent: the variable that chooses its protocol, and the one that switches it off. */
const SIGNALS = {
  trace: { protocol: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', exporter: 'OTEL_TRACES_EXPORTER' },
  metrics: { protocol: 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', exporter: 'OTEL_METRICS_EXPORTER' },
} as const;

type Signal = keyof typeof SIGNALS;

/** Whether the variables of OpenTelemetry switch a signal off. */
export const isOff = (signal: Signal, env: Environment): boolean =>
  isTrue(env['OTEL_SDK_DISABLED']) || env[SIGNALS[signal].exporter]?.trim() === 'none';

export const isTrue = (text: string | undefined): boolean => text?.trim().toLowerCase() === 'true';

/** @throws DevsError `CONFIG_INVALID` */
function protocolFrom(signal: Signal, env: Environment): Protocol {
  const text = env[SIGNALS[signal].protocol] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/protobuf';
  if (Object.hasOwn(PROTOCOLS, text)) return text as Protocol;
  throw new DevsError('OTEL_EXPORTER_OTLP_PROTOCOL has a value that is not supported.', {
    code: 'CONFIG_INVALID',
    remedy: `Set it to ${Object.keys(PROTOCOLS).join(', ')}.`,
    context: { variable: 'OTEL_EXPORTER_OTLP_PROTOCOL' },
  });
}

/**
 * Makes the official exporter, which reads the other `OTEL_EXPORTER_OTLP_…` variables itself.
 *
 * @throws DevsError `CONFIG_INVALID` for another protocol, or if the package of the exporter is missing.
 */
export function otlpExporter(env: Environment, load: LoadExporter = loadExporter): SpanExporter {
  return new (loaded('trace', env, load).OTLPTraceExporter)();
}

/** As {@link otlpExporter}, for metrics. */
export function otlpMetricExporter(env: Environment, load: LoadExporter = loadExporter): MetricExporter {
  return new (loaded('metrics', env, load).OTLPMetricExporter)();
}

function loaded(signal: Signal, env: Environment, load: LoadExporter): ExporterModule {
  const name = `@opentelemetry/exporter-${signal}-otlp-${PROTOCOLS[protocolFrom(signal, env)]}`;
  const module = load(name);
  if (module !== null) return module;
  const orOff = signal === 'metrics' ? ', or set OTEL_METRICS_EXPORTER=none' : '';
  throw new DevsError(`OpenTelemetry needs the package ${name}, which is not installed.`, {
    code: 'CONFIG_INVALID',
    remedy: `Run npm install ${name}${orOff}`,
    context: { package: name },
  });
}

interface ExporterModule {
  readonly OTLPTraceExporter: new () => SpanExporter;
  readonly OTLPMetricExporter: new () => MetricExporter;
}

/** `null` if the package is not installed. */
type LoadExporter = (name: string) => ExporterModule | null;

/** From beside this package, or from the folder that the process was started in. */
function loadExporter(name: string): ExporterModule | null {
  for (const place of [import.meta.url, join(process.cwd(), 'package.json')]) {
    const from = createRequire(place);
    if (isInstalled(name, from)) return from(name) as ExporterModule;
  }
  return null;
}

function isInstalled(name: string, from: NodeJS.Require): boolean {
  try {
    return from.resolve(name) !== '';
  } catch {
    return false;
  }
}

/** Who sends: OpenTelemetry's resource, from `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`. */
export function resourceFrom(env: Environment, own: Readonly<Record<string, string>> = {}): object {
  const service = env['OTEL_SERVICE_NAME'];
  const attributes = {
    'service.name': 'devs',
    ...own,
    ...resourceAttributes(env['OTEL_RESOURCE_ATTRIBUTES'] ?? ''),
    ...(service && { 'service.name': service }),
  };
  return { attributes };
}

/** `key=value,key=value`, with percent-encoded values. */
const resourceAttributes = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const [, name = '', value = ''] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(pair) ?? [];
      return name === '' ? [] : [[name, decoded(value.trim())] as const];
    }),
  );

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The version of the semantic conventions that the names of spans and attributes are of. */
const SCOPE = { name: '@devs/core', schemaUrl: 'https://opentelemetry.io/schemas/1.41.0' } as const;
const KINDS = { internal: 0, client: 2 } as const;
const SAMPLED = 1;
const UNSET = 0;
const ERROR = 2;

type HrTime = readonly [seconds: number, nanoseconds: number];

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1_000_000)];

const contextOf = ({ traceId, spanId }: SpanPlace) => ({ traceId, spanId, traceFlags: SAMPLED });

/** A span in the shape that OpenTelemetry's exporters read. */
export function readableSpan(span: RunSpan, resource: object): object {
  const { traceId, parentId, startedAt, endedAt } = span;
  return {
    ...{ name: span.name, kind: KINDS[span.kind], attributes: span.attributes, resource },
    spanContext: () => contextOf(span),
    ...(parentId !== null && { parentSpanContext: contextOf({ traceId, spanId: parentId }) }),
    ...{
      startTime: hrTime(startedAt),
      endTime: hrTime(endedAt),
      duration: hrTime(endedAt - startedAt),
      ended: true,
    },
    status: span.error === null ? { code: UNSET } : { code: ERROR, message: span.error },
    events: span.events.map(({ name, at, attributes }) => ({ name, time: hrTime(at), attributes })),
    links: span.links.map((link) => ({ context: contextOf(link), attributes: {} })),
    ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    instrumentationScope: SCOPE,
  };
}

const SUM = 3;
const GAUGE = 2;
const CUMULATIVE = 1;
const DOUBLE = 1;

/** Metrics in the shape that OpenTelemetry's exporters read. @param at - In milliseconds since the Unix epoch; `since` is that of the counters. */
export function resourceMetrics(
  metrics: readonly AppMetric[],
  { resource, since, at }: { readonly resource: object; readonly since: number; readonly at: number },
): object {
  const times = { startTime: hrTime(since), endTime: hrTime(at) };
  const told = metrics.map(({ name, unit, help, isCounter, points }) => ({
    descriptor: {
      ...{ name, unit, description: help, valueType: DOUBLE },
      type: isCounter ? 'COUNTER' : 'GAUGE',
    },
    ...{ dataPointType: isCounter ? SUM : GAUGE, isMonotonic: isCounter, aggregationTemporality: CUMULATIVE },
    dataPoints: points.map(({ labels, value }) => ({ ...times, attributes: labels, value })),
  }));
  return { resource, scopeMetrics: [{ scope: SCOPE, metrics: told }] };
}
