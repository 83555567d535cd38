import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

type Value = string | number | boolean;

/** A span as a collector received it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the root. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: bigint;
  readonly endTimeUnixNano: bigint;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, Value>> }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
  /** Of who sent it. */
  readonly resource: Readonly<Record<string, Value>>;
}

/** A message type of OpenTelemetry's own Protobuf files, as a release of its exporters has them compiled. */
interface MessageType {
  verify(message: object): string | null;
  fromObject(plain: object): object;
  toObject(message: object, options: { readonly longs: unknown; readonly bytes: unknown }): object;
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
}

interface CollectorTypes {
  readonly ExportTraceServiceRequest: MessageType;
  readonly ExportTraceServiceResponse: MessageType;
}

interface MetricTypes {
  readonly ExportMetricsServiceRequest: MessageType;
}

/** A metric as a collector received it. */
export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly isCounter: boolean;
  readonly points: readonly {
    readonly labels: Readonly<Record<string, Value>>;
    readonly value: number;
  }[];
  readonly resource: Readonly<Record<string, Value>>;
}

interface NumberPoints {
  readonly dataPoints?: readonly {
    readonly attributes?: readonly KeyValue[];
    readonly asDouble?: number;
    readonly asInt?: string | number;
  }[];
  readonly isMonotonic?: boolean;
}

interface MetricsMessage {
  readonly resourceMetrics?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeMetrics?: readonly {
      readonly metrics?: readonly {
        readonly name: string;
        readonly unit: string;
        readonly sum?: NumberPoints;
        readonly gauge?: NumberPoints;
      }[];
    }[];
  }[];
}

const protos = createRequire(import.meta.url)('otlp-protos/build/src/generated/root.js') as {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly trace: { readonly v1: CollectorTypes };
        readonly metrics: { readonly v1: MetricTypes };
      };
    };
  };
};
const { ExportTraceServiceRequest: Request, ExportTraceServiceResponse: Response } =
  protos.opentelemetry.proto.collector.trace.v1;
const { ExportMetricsServiceRequest: Metrics } = protos.opentelemetry.proto.collector.metrics.v1;

interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

interface KeyValue {
  readonly key: string;
  readonly value?: AnyValue;
}

interface SpanMessage {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly events?: readonly { readonly name: string; readonly attributes?: readonly KeyValue[] }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

interface RequestMessage {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans?: readonly { readonly schemaUrl?: string; readonly spans?: readonly SpanMessage[] }[];
  }[];
}

const plainValue = ({ stringValue, boolValue, intValue, doubleValue }: AnyValue = {}): Value =>
  stringValue ?? boolValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? '';

const attributesOf = (given: readonly KeyValue[] = []): Readonly<Record<string, Value>> =>
  Object.fromEntries(given.map(({ key, value }) => [key, plainValue(value)]));

const hexOf = (bytes: string): string => Buffer.from(bytes, 'base64').toString('hex');

/** In OTLP's JSON ids are hex, in that of Protobuf they are Base64. */
function spansOf(message: RequestMessage, idOf: (text: string) => string): readonly ReceivedSpan[] {
  return (message.resourceSpans ?? []).flatMap(({ resource, scopeSpans = [] }) =>
    scopeSpans.flatMap(({ spans = [] }) =>
      spans.map((span) => ({
        ...{
          traceId: idOf(span.traceId),
          spanId: idOf(span.spanId),
          parentSpanId: idOf(span.parentSpanId ?? ''),
        },
        ...{ name: span.name, kind: span.kind, status: span.status ?? {} },
        startTimeUnixNano: BigInt(span.startTimeUnixNano),
        endTimeUnixNano: BigInt(span.endTimeUnixNano),
        attributes: attributesOf(span.attributes),
        events: (span.events ?? []).map(({ name, attributes }) => ({
          name,
          attributes: attributesOf(attributes),
        })),
        links: (span.links ?? []).map((link) => ({ traceId: idOf(link.traceId), spanId: idOf(link.spanId) })),
        resource: attributesOf(resource?.attributes),
      })),
    ),
  );
}

const metricsOf = ({ resourceMetrics = [] }: MetricsMessage): readonly ReceivedMetric[] =>
  resourceMetrics.flatMap(({ resource, scopeMetrics = [] }) =>
    scopeMetrics.flatMap(({ metrics = [] }) =>
      metrics.map(({ name, unit, sum, gauge }) => ({
        ...{ name, unit, isCounter: sum?.isMonotonic === true, resource: attributesOf(resource?.attributes) },
        points: ((sum ?? gauge)?.dataPoints ?? []).map(({ attributes, asDouble, asInt }) => ({
          labels: attributesOf(attributes),
          value: asDouble ?? Number(asInt),
        })),
      })),
    ),
  );

/** How a collector answers a request: a status, a partial success, or no answer at all. */
export type Answer = number | 'partial' | 'silent';

function messageIn(body: Buffer, isJson: boolean, type: MessageType): object {
  if (!isJson) return type.toObject(type.decode(body), { longs: String, bytes: String });
  const message = JSON.parse(body.toString()) as object;
  // Refuses what is not in the Protobuf files.
  const wrong = type.verify(type.fromObject(message));
  if (wrong !== null) throw new TypeError(wrong);
  return message;
}

/** A collector on loopback. It decodes with OpenTelemetry's own Protobuf files. */
export class Collector {
  readonly #server: Server;
  readonly #answer: () => Answer;
  /** Every span of requests that were answered with success, in their order. */
  readonly taken: ReceivedSpan[] = [];
  /** Of the last request with metrics. */
  metrics: readonly ReceivedMetric[] = [];
  /** Bodies with spans as they came, decompressed. */
  readonly bodies: Buffer[] = [];

  private constructor(answer: () => Answer) {
    this.#answer = answer;
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const answered = this.#answer();
        const spans = this.#read(request, Buffer.concat(chunks));
        if (answered === 'silent') return;
        if (answered === 'partial' || answered < 300) this.taken.push(...spans);
        const isJson = request.headers['content-type'] === 'application/json';
        const type = isJson ? 'application/json' : 'application/x-protobuf';
        const said =
          answered === 'partial' ? { partialSuccess: { rejectedSpans: 1, errorMessage: 'too old' } } : {};
        response
          .writeHead(answered === 'partial' ? 200 : answered, { 'content-type': type })
          .end(isJson ? JSON.stringify(said) : Response.encode(Response.fromObject(said)).finish());
      });
    });
  }

  #read(request: IncomingMessage, given: Buffer): readonly ReceivedSpan[] {
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(given) : given;
    const isJson = request.headers['content-type'] === 'application/json';
    if (request.url === '/v1/metrics') {
      this.metrics = metricsOf(messageIn(body, isJson, Metrics) as MetricsMessage);
      return [];
    }
    this.bodies.push(body);
    return spansOf(messageIn(body, isJson, Request) as RequestMessage, isJson ? (id) => id : hexOf);
  }

  static async start(answer: () => Answer = () => 200): Promise<Collector> {
    const collector = new Collector(answer);
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Spans, each once by its id, as they came last. */
  get spans(): readonly ReceivedSpan[] {
    return [...new Map(this.taken.map((span) => [span.spanId, span])).values()];
  }

  pointsOf(metric: string): ReceivedMetric['points'] {
    return this.metrics.find(({ name }) => name === metric)?.points ?? [];
  }

  /** Of a metric with one value. */
  valueOf(metric: string): number | undefined {
    return this.pointsOf(metric)[0]?.value;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
