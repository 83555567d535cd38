import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { withKnownNames } from '../../config/knownOptions.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { OUTBOX_EVENTS } from '../../events/events.ts';
import { onAbort } from '../../events/onAbort.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import { isOfGraph } from '../graph/graphShape.ts';
import { ANSWER_MS, type OutboxTarget } from '../outbox/OutboxSender.ts';
import type { RunNumbers } from '../runs/Runs.ts';
import { AppMeters } from './AppMeters.ts';
import {
  type Exporter,
  isOff,
  isTrue,
  type MetricExporter,
  otlpExporter,
  otlpMetricExporter,
  readableSpan,
  resourceFrom,
  resourceMetrics,
  type SpanExporter,
} from './otlpExporter.ts';
import type { ReadFile } from './RunRecord.ts';
import type { RunSpan } from './RunSpan.ts';
import { spansOf } from './runSpans.ts';

/** Options of telemetry. */
export interface TelemetryOptions {
  /**
   * Also words of people, messages of errors and results of steps, masked.
   * @defaultValue whether `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` is `true`
   */
  readonly content?: boolean;
  /** Sends the spans. @defaultValue the official exporter of `OTEL_EXPORTER_OTLP_PROTOCOL` */
  readonly exporter?: SpanExporter;
  /** Sends the metrics. @defaultValue the official exporter of `OTEL_EXPORTER_OTLP_PROTOCOL` */
  readonly metricExporter?: MetricExporter;
}

type Environment = Readonly<Record<string, string | undefined>>;

const MEMBERS = { content: true, exporter: true, metricExporter: true } satisfies Record<
  keyof TelemetryOptions,
  true
>;

/** `null`: no spans are exported, also if `OTEL_SDK_DISABLED` is `true` or `OTEL_TRACES_EXPORTER` is `none`. @throws TypeError */
export function telemetryOptions(
  given: boolean | TelemetryOptions | undefined,
  env: Environment = process.env,
): TelemetryOptions | null {
  if (given === undefined || given === false) return null;
  const options = given === true ? {} : withKnownNames('telemetry', given, MEMBERS);
  const { content } = options;
  if (content !== undefined && typeof content !== 'boolean')
    throw new TypeError('telemetry.content: expected true or false.');
  for (const name of ['exporter', 'metricExporter'] as const)
    if (options[name] !== undefined && typeof options[name]?.export !== 'function')
      throw new TypeError(`telemetry.${name}: expected an exporter of OpenTelemetry.`);
  return isOff('trace', env) ? null : options;
}

/** The runs of an app. */
interface ReadRuns {
  /** Name of the app; empty for an unnamed one. */
  readonly graph: string;
  /** @throws DevsError `THREAD_NOT_FOUND` */
  read<T>(id: string, use: (file: ReadFile) => T): T | Promise<T>;
}

type ReadNumbers = () => RunNumbers | Promise<RunNumbers>;

const ERROR_CHARACTERS = 200;
/** OpenTelemetry's default for a batch. */
const BATCH = 512;

/** OpenTelemetry's default, ms. */
const METRICS_EVERY_MS = 60_000;
/** For the last metrics of a process that stops, ms. */
const LAST_MS = 1_000;

/** Sends the spans and the metrics of an app with OpenTelemetry. */
export class Telemetry {
  readonly #options: TelemetryOptions;
  readonly #runs: ReadRuns;
  readonly #env: Environment;
  readonly #since = Date.now();
  readonly #instance = randomUUID();
  readonly meters = new AppMeters();
  #exporter: SpanExporter | null = null;
  #metricExporter: MetricExporter | null = null;

  constructor(options: TelemetryOptions, runs: ReadRuns, env: Environment = process.env) {
    this.#options = options;
    this.#runs = runs;
    this.#env = env;
  }

  /** Of events about gates and ends of runs: with each, the spans are sent that have ended since the one before. */
  get target(): OutboxTarget {
    return {
      // No name of a webhook has this character.
      name: `otlp:${this.#runs.graph}`,
      wants: () => true,
      deliver: ({ threadId, seq }, signal) => this.#deliver(threadId ?? '', seq, signal),
    };
  }

  /** Sends the spans of a run that have ended. Returns their number. @throws DevsError, the error of the exporter */
  async sendRun(id: string): Promise<number> {
    const content = this.#content;
    const spans = await this.#runs.read(id, (file) => spansOf(id, file, { content }));
    const ended = spans.filter(({ isOpen }) => !isOpen);
    await this.#send(ended);
    return ended.length;
  }

  /** Sends the metrics as they are now, unless they are switched off. @throws DevsError, the error of the exporter */
  async sendMetrics(numbers: ReadNumbers, signal?: AbortSignal): Promise<void> {
    if (isOff('metrics', this.#env)) return;
    const resource = resourceFrom(this.#env, { 'service.instance.id': this.#instance });
    const metrics = this.meters.metrics(await numbers());
    const batch = resourceMetrics(metrics, { resource, since: this.#since, at: Date.now() });
    await exported(batch, this.#madeForMetrics(), signal);
  }

  /** Sends the metrics every `OTEL_METRIC_EXPORT_INTERVAL` milliseconds, and once more when `signal` is aborted. */
  async sendMetricsUntil(signal: AbortSignal, numbers: ReadNumbers): Promise<void> {
    const everyMs = Number(this.#env['OTEL_METRIC_EXPORT_INTERVAL']) || METRICS_EVERY_MS;
    for (;;) {
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted)
        return this.sendMetrics(numbers, AbortSignal.timeout(LAST_MS)).catch(() => undefined);
      await this.sendMetrics(numbers);
    }
  }

  /** Counts a run that another process took over, if it is of this app: others may share its events. Does not reject. */
  async countLostLease(id: string): Promise<void> {
    const isOurs = async () => this.#runs.read(id, (file) => this.#isOurs(id, file));
    if (await isOurs().catch(() => false)) this.meters.leaseLost();
  }

  get #content(): boolean {
    return this.#options.content ?? isTrue(this.#env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']);
  }

  /** Ends exporters that were made here. */
  async close(): Promise<void> {
    const made = [this.#exporter, this.#metricExporter].filter((exporter) => exporter !== null);
    this.#exporter = null;
    this.#metricExporter = null;
    await Promise.all(made.map((exporter) => exporter.shutdown()));
  }

  async #deliver(id: string, seq: number, signal: AbortSignal): Promise<string | null> {
    try {
      const spans = await this.#runs.read(id, (file) => this.#endedWith(id, seq, file));
      await this.#send(spans, signal);
      this.meters.count(spans);
      return null;
    } catch (error) {
      // A run of an app with another name, or one that was deleted since.
      if (isDevsError(error, 'THREAD_NOT_FOUND')) return null;
      return maskSensitiveData(String(error)).slice(0, ERROR_CHARACTERS);
    }
  }

  /** @throws DevsError `THREAD_NOT_FOUND` */
  #isOurs(id: string, file: ReadFile): boolean {
    const { graph } = this.#runs;
    file.threads.require(id);
    return graph === '' || isOfGraph(graph, id, file);
  }

  #endedWith(id: string, seq: number, file: ReadFile): readonly RunSpan[] {
    if (!this.#isOurs(id, file)) return [];
    const before = file.log.seqBefore(id, seq, OUTBOX_EVENTS);
    const spans = spansOf(id, file, { upTo: seq, content: this.#content });
    return spans.filter(({ endSeq, isOpen }) => !isOpen && endSeq > before && endSeq <= seq);
  }

  async #send(spans: readonly RunSpan[], signal?: AbortSignal): Promise<void> {
    const resource = resourceFrom(this.#env);
    for (let from = 0; from < spans.length; from += BATCH) {
      const batch = spans.slice(from, from + BATCH).map((span) => readableSpan(span, resource));
      await exported(batch, this.#made(), signal);
    }
  }

  #made(): SpanExporter {
    const { exporter } = this.#options;
    if (exporter !== undefined) return exporter;
    this.#exporter ??= otlpExporter(this.#env);
    return this.#exporter;
  }

  #madeForMetrics(): MetricExporter {
    const { metricExporter } = this.#options;
    if (metricExporter !== undefined) return metricExporter;
    this.#metricExporter ??= otlpMetricExporter(this.#env);
    return this.#metricExporter;
  }
}

/** @throws the error of the exporter */
function exported<Batch>(
  batch: Batch,
  exporter: Pick<Exporter<Batch>, 'export'>,
  signal?: AbortSignal,
): Promise<void> {
  const late = AbortSignal.any([AbortSignal.timeout(ANSWER_MS), ...(signal ? [signal] : [])]);
  return new Promise((resolve, reject) => {
    const end = onAbort(late, () => reject(new Error('the collector did not answer')));
    exporter.export(batch, ({ code, error }) => {
      end();
      if (code === 0) resolve();
      else reject(error ?? new Error('the collector did not take them'));
    });
  });
}
