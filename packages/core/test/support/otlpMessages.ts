// What a collector receives and answers, with OpenTelemetry's own Protobuf files.

import { createRequire } from 'node:module';

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

/** A body of a request, decompressed. */
interface Body {
  readonly bytes: Buffer;
  /** In OTLP's JSON, not in Protobuf. */
  readonly isJson: boolean;
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

function messageIn({ bytes, isJson }: Body, type: MessageType): object {
  if (!isJson) return type.toObject(type.decode(bytes), { longs: String, bytes: String });
  const message = JSON.parse(bytes.toString()) as object;
  // Refuses what is not in the Protobuf files.
  const wrong = type.verify(type.fromObject(message));
  if (wrong !== null) throw new TypeError(wrong);
  return message;
}

export const spansIn = (body: Body): readonly ReceivedSpan[] =>
  spansOf(messageIn(body, Request) as RequestMessage, body.isJson ? (id) => id : hexOf);

export const metricsIn = (body: Body): readonly ReceivedMetric[] =>
  metricsOf(messageIn(body, Metrics) as MetricsMessage);

/** The answer to a request that was taken, whole or in part. */
export function answerBody(isPartial: boolean, isJson: boolean): Buffer {
  const said = isPartial ? { partialSuccess: { rejectedSpans: 1, errorMessage: 'too old' } } : {};
  return Buffer.from(isJson ? JSON.stringify(said) : Response.encode(Response.fromObject(said)).finish());
}
