import { withKnownNames } from '../../config/knownOptions.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { OUTBOX_EVENTS } from '../../events/events.ts';
import { onAbort } from '../../events/onAbort.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import { isOfGraph } from '../graph/graphShape.ts';
import { ANSWER_MS, type OutboxTarget } from '../outbox/OutboxSender.ts';
import { otlpExporter, readableSpan, resourceFrom, type SpanExporter } from './otlpExporter.ts';
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
}

type Environment = Readonly<Record<string, string | undefined>>;

const MEMBERS = { content: true, exporter: true } satisfies Record<keyof TelemetryOptions, true>;

const isTrue = (text: string | undefined): boolean => text?.trim().toLowerCase() === 'true';

const isOff = (env: Environment): boolean =>
  isTrue(env['OTEL_SDK_DISABLED']) || env['OTEL_TRACES_EXPORTER']?.trim() === 'none';

/** `null`: nothing is exported, also if `OTEL_SDK_DISABLED` is `true` or `OTEL_TRACES_EXPORTER` is `none`. @throws TypeError */
export function telemetryOptions(
  given: boolean | TelemetryOptions | undefined,
  env: Environment = process.env,
): TelemetryOptions | null {
  if (given === undefined || given === false) return null;
  const options = given === true ? {} : withKnownNames('telemetry', given, MEMBERS);
  const { content, exporter } = options;
  if (content !== undefined && typeof content !== 'boolean')
    throw new TypeError('telemetry.content: expected true or false.');
  if (exporter !== undefined && typeof exporter?.export !== 'function')
    throw new TypeError('telemetry.exporter: expected an exporter of spans.');
  return isOff(env) ? null : options;
}

/** The runs of an app. */
interface ReadRuns {
  /** Name of the app; empty for an unnamed one. */
  readonly graph: string;
  /** @throws DevsError `THREAD_NOT_FOUND` */
  read<T>(id: string, use: (file: ReadFile) => T): T | Promise<T>;
}

const ERROR_CHARACTERS = 200;
/** OpenTelemetry's default for a batch. */
const BATCH = 512;

/** Sends the spans of runs with OpenTelemetry. */
export class Telemetry {
  readonly #options: TelemetryOptions;
  readonly #runs: ReadRuns;
  readonly #env: Environment;
  #exporter: SpanExporter | null = null;

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

  get #content(): boolean {
    return this.#options.content ?? isTrue(this.#env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']);
  }

  /** Ends an exporter that was made here. */
  async close(): Promise<void> {
    const exporter = this.#exporter;
    this.#exporter = null;
    await exporter?.shutdown();
  }

  async #deliver(id: string, seq: number, signal: AbortSignal): Promise<string | null> {
    try {
      await this.#send(await this.#runs.read(id, (file) => this.#endedWith(id, seq, file)), signal);
      return null;
    } catch (error) {
      // A run of an app with another name, or one that was deleted since.
      if (isDevsError(error, 'THREAD_NOT_FOUND')) return null;
      return maskSensitiveData(String(error)).slice(0, ERROR_CHARACTERS);
    }
  }

  #endedWith(id: string, seq: number, file: ReadFile): readonly RunSpan[] {
    const { graph } = this.#runs;
    if (graph !== '' && !isOfGraph(graph, id, file)) return [];
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
}

/** @throws the error of the exporter */
function exported(batch: readonly object[], exporter: SpanExporter, signal?: AbortSignal): Promise<void> {
  const late = AbortSignal.any([AbortSignal.timeout(ANSWER_MS), ...(signal ? [signal] : [])]);
  return new Promise((resolve, reject) => {
    const end = onAbort(late, () => reject(new Error('the collector did not answer')));
    exporter.export(batch, ({ code, error }) => {
      end();
      if (code === 0) resolve();
      else reject(error ?? new Error('the collector did not take the spans'));
    });
  });
}
