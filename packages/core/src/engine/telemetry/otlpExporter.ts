// OpenTelemetry's own exporters send the spans. They are optional: they are loaded with the first span to send.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DevsError } from '../../errors/DevsError.ts';
import type { RunSpan, SpanPlace } from './RunSpan.ts';

/** As of OpenTelemetry's exporters. */
export interface SpanExporter {
  export(
    spans: readonly object[],
    done: (result: { readonly code: number; readonly error?: Error }) => void,
  ): void;
  shutdown(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** By the values of `OTEL_EXPORTER_OTLP_PROTOCOL`. */
const PACKAGES = {
  'http/protobuf': '@opentelemetry/exporter-trace-otlp-proto',
  'http/json': '@opentelemetry/exporter-trace-otlp-http',
  grpc: '@opentelemetry/exporter-trace-otlp-grpc',
} as const;

type Protocol = keyof typeof PACKAGES;

/** @throws DevsError `CONFIG_INVALID` */
function protocolFrom(env: Environment): Protocol {
  const text =
    env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/protobuf';
  if (Object.hasOwn(PACKAGES, text)) return text as Protocol;
  throw new DevsError('OTEL_EXPORTER_OTLP_PROTOCOL has a value that is not supported.', {
    code: 'CONFIG_INVALID',
    remedy: `Set it to ${Object.keys(PACKAGES).join(', ')}.`,
    context: { variable: 'OTEL_EXPORTER_OTLP_PROTOCOL' },
  });
}

/**
 * Makes the official exporter, which reads the other `OTEL_EXPORTER_OTLP_…` variables itself.
 *
 * @throws DevsError `CONFIG_INVALID` for another protocol, or if the package of the exporter is missing.
 */
export function otlpExporter(env: Environment, load: LoadExporter = loadExporter): SpanExporter {
  const name = PACKAGES[protocolFrom(env)];
  const loaded = load(name);
  if (loaded !== null) return new loaded.OTLPTraceExporter();
  throw new DevsError(`OpenTelemetry needs the package ${name}, which is not installed.`, {
    code: 'CONFIG_INVALID',
    remedy: `Run npm install ${name}`,
    context: { package: name },
  });
}

interface ExporterModule {
  readonly OTLPTraceExporter: new () => SpanExporter;
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

/** Who sends the spans: OpenTelemetry's resource, from `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`. */
export function resourceFrom(env: Environment): object {
  const service = env['OTEL_SERVICE_NAME'];
  const attributes = {
    'service.name': 'devs',
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
