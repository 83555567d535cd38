import { createRequire } from 'node:module';

type Callback = (error: object | null, answer?: Buffer) => void;

interface ReceivedCall {
  readonly request: Buffer;
  readonly metadata: { getMap(): Readonly<Record<string, unknown>> };
}

/** The part of `@grpc/grpc-js` that is used. It comes with OpenTelemetry's exporters. */
interface Grpc {
  readonly Server: new () => {
    addService(service: object, methods: object): void;
    bindAsync(address: string, credentials: object, done: (error: Error | null, port: number) => void): void;
    forceShutdown(): void;
  };
  readonly ServerCredentials: { createInsecure(): object };
  readonly status: { readonly INVALID_ARGUMENT: number };
}

/** A request of one message. */
export interface GrpcCall {
  readonly path: string;
  /** The message, decompressed. */
  readonly body: Buffer;
  readonly metadata: Readonly<Record<string, unknown>>;
  reply(message: Buffer): void;
  refuse(details: string): void;
}

/** By their Protobuf files. */
const PATHS = [
  '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
] as const;

const asItIs = (bytes: Buffer): Buffer => bytes;

function grpc(): Grpc {
  const fromHere = createRequire(import.meta.url);
  const fromExporter = createRequire(fromHere.resolve('@opentelemetry/exporter-trace-otlp-grpc'));
  const fromBase = createRequire(fromExporter.resolve('@opentelemetry/otlp-grpc-exporter-base'));
  return fromBase('@grpc/grpc-js') as Grpc;
}

/** Serves the two services of OpenTelemetry over gRPC on loopback. @param port - `0`: a free one. */
export async function startGrpcServer(
  answer: (call: GrpcCall) => void,
  port = 0,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { Server, ServerCredentials, status } = grpc();
  const server = new Server();
  for (const path of PATHS) {
    const method = {
      ...{ path, requestStream: false, responseStream: false },
      ...{ requestSerialize: asItIs, requestDeserialize: asItIs },
      ...{ responseSerialize: asItIs, responseDeserialize: asItIs },
    };
    const Export = ({ request, metadata }: ReceivedCall, done: Callback): void =>
      answer({
        ...{ path, body: request, metadata: metadata.getMap() },
        reply: (message) => done(null, message),
        refuse: (details) => done({ code: status.INVALID_ARGUMENT, details }),
      });
    server.addService({ Export: method }, { Export });
  }
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, found) =>
      error === null ? resolve(found) : reject(error),
    ),
  );
  return { url: `http://127.0.0.1:${bound}`, stop: async () => server.forceShutdown() };
}
