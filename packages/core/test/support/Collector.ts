import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { answerBody, metricsIn, type ReceivedMetric, type ReceivedSpan, spansIn } from './otlpMessages.ts';
import { type GrpcCall, startGrpcServer } from './startGrpcServer.ts';

/** How a collector answers a request: a status of HTTP, a partial success, or no answer at all. */
export type Answer = number | 'partial' | 'silent';

/** Answers each request, of metrics or of spans. */
type Answers = (request: { readonly ofMetrics: boolean }) => Answer;

interface Started {
  readonly url: string;
  stop(): Promise<void>;
}

/** A collector on loopback. It decodes with OpenTelemetry's own Protobuf files. */
export class Collector {
  readonly #answer: Answers;
  readonly #taken: ReceivedSpan[] = [];
  readonly #byId = new Map<string, ReceivedSpan>();
  #started: Started | null = null;
  /** Of the last request with metrics. */
  metrics: readonly ReceivedMetric[] = [];
  /** Bodies with spans as they came, decompressed. */
  readonly bodies: Buffer[] = [];
  /** Headers of the last request, or its metadata; that of the request to answer, while it is. */
  headers: Readonly<Record<string, unknown>> = {};

  private constructor(answer: Answers) {
    this.#answer = answer;
  }

  static async start(answer: Answers = () => 200): Promise<Collector> {
    const collector = new Collector(answer);
    collector.#started = await collector.#startHttp();
    return collector;
  }

  /** Over gRPC. @param port - `0`: a free one. */
  static async startGrpc(answer: Answers = () => 200, port = 0): Promise<Collector> {
    const collector = new Collector(answer);
    collector.#started = await startGrpcServer((call) => collector.#answerGrpc(call), port);
    return collector;
  }

  async #startHttp(): Promise<Started> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.headers = request.headers;
        const ofMetrics = isOfMetrics(request.url);
        const answer = this.#answer({ ofMetrics });
        const isJson = request.headers['content-type'] === 'application/json';
        const isTaken = answer === 'partial' || (answer !== 'silent' && answer < 300);
        this.#receive(bodyOf(request, Buffer.concat(chunks)), {
          ofMetrics,
          isJson,
          isTaken,
        });
        if (answer === 'silent') return;
        const type = isJson ? 'application/json' : 'application/x-protobuf';
        response
          .writeHead(answer === 'partial' ? 200 : answer, { 'content-type': type })
          .end(answerBody(answer === 'partial', isJson));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      stop: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  #answerGrpc({ path, body, metadata, reply, refuse }: GrpcCall): void {
    this.headers = metadata;
    const ofMetrics = isOfMetrics(path);
    const answer = this.#answer({ ofMetrics });
    const isTaken = answer === 'partial' || (answer !== 'silent' && answer < 300);
    this.#receive(body, { ofMetrics, isJson: false, isTaken });
    if (answer === 'silent') return;
    if (isTaken) reply(answerBody(answer === 'partial', false));
    else refuse(`the collector answered ${answer}`);
  }

  #receive(
    bytes: Buffer,
    {
      ofMetrics,
      isJson,
      isTaken,
    }: { readonly ofMetrics: boolean; readonly isJson: boolean; readonly isTaken: boolean },
  ): void {
    if (ofMetrics) {
      this.metrics = metricsIn({ bytes, isJson });
      return;
    }
    this.bodies.push(bytes);
    const spans = spansIn({ bytes, isJson });
    if (!isTaken) return;
    this.#taken.push(...spans);
    for (const span of spans) this.#byId.set(span.spanId, span);
  }

  get url(): string {
    return this.#started?.url ?? '';
  }

  /** Every span of requests that were answered with success, in their order. */
  get taken(): readonly ReceivedSpan[] {
    return this.#taken;
  }

  /** Spans, each once by its id, as they came last. */
  get spans(): readonly ReceivedSpan[] {
    return [...this.#byId.values()];
  }

  pointsOf(metric: string): ReceivedMetric['points'] {
    return this.metrics.find(({ name }) => name === metric)?.points ?? [];
  }

  /** Of a metric with one value. */
  valueOf(metric: string): number | undefined {
    return this.pointsOf(metric)[0]?.value;
  }

  async stop(): Promise<void> {
    await this.#started?.stop();
  }
}

const bodyOf = ({ headers }: IncomingMessage, given: Buffer): Buffer =>
  headers['content-encoding'] === 'gzip' ? gunzipSync(given) : given;

const isOfMetrics = (path = ''): boolean => /\/v1\/metrics$|MetricsService\/Export$/.test(path);
