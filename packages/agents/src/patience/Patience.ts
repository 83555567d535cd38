import { type AgentCall, DevsError, maskSensitiveData } from '@devs/core';
import { retryTime } from './retryTime.ts';

/** Longest wait of one call at a limit of its provider, ms. */
export const DEFAULT_MAX_WAIT_MS = 30 * 60_000;

/** Pauses without a named time: doubled from the first to the last, ms. */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;

/** Least that is waited until an hour that is named, ms: clocks differ. */
const LEAST_PAUSE_MS = 1_000;

export interface PatienceOptions {
  /** @defaultValue 30 minutes */
  readonly maxWaitMs?: number;
  /** @defaultValue a timer that ends when the signal is aborted, with its reason */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds since the Unix epoch. */
  readonly now?: () => number;
}

/** A call that may wait, with the name of its agent. */
type WaitingCall = Pick<AgentCall, 'signal' | 'onActivity'> & { readonly name: string };

/** Waits at rate limits and quotas, within a bound, and reports each wait. */
export class Patience {
  readonly #maxWaitMs: number;
  readonly #wait: NonNullable<PatienceOptions['wait']>;
  readonly #now: () => number;

  constructor({ maxWaitMs = DEFAULT_MAX_WAIT_MS, wait = timer, now = Date.now }: PatienceOptions = {}) {
    if (!(maxWaitMs >= 0)) throw new RangeError(`maxWaitMs must be 0 or more, got ${maxWaitMs}.`);
    this.#maxWaitMs = maxWaitMs;
    this.#wait = wait;
    this.#now = now;
  }

  /**
   * Makes a request again as long as it is refused for a limit of the provider's; any other error is thrown at once.
   *
   * @throws DevsError `AGENT_FAILED` with `waitedMs` at the end of the bound, and with `retryAt` for a named hour.
   * @throws the reason of the aborted signal.
   */
  async ask<T>(request: () => Promise<T>, { name, signal, onActivity }: WaitingCall): Promise<T> {
    let waited = 0;
    for (let times = 0; ; times += 1) {
      try {
        return await request();
      } catch (error) {
        signal.throwIfAborted();
        const limit = providerLimit(error, this.#now());
        if (limit === null) throw error;
        const pause = this.#pause(limit, times);
        if (waited + pause > this.#maxWaitMs) throw limitReached(error, { ...limit, name, waited });
        const words = `${name} takes no more requests (${limit.why}): waiting ${duration(pause)}`;
        const left = this.#maxWaitMs - waited - pause;
        onActivity?.({ kind: 'doing', what: `${words}, ${duration(left)} at most after that` });
        await this.#wait(pause, signal);
        waited += pause;
      }
    }
  }

  #pause({ retryAt }: ProviderLimit, times: number): number {
    if (retryAt !== null) return Math.max(LEAST_PAUSE_MS, retryAt - this.#now());
    return Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(times, 30));
  }
}

interface ProviderLimit {
  /** `429`, `usage limit`. */
  readonly why: string;
  /** Time of the next request, in milliseconds since the Unix epoch; `null` without a named time. */
  readonly retryAt: number | null;
}

const LIMIT_STATUS: ReadonlySet<number> = new Set([429, 529]);

/** Phrases of coding CLIs, which report only text. They also print code, so single words do not count. */
const LIMIT_TEXT =
  /usage limit reached|hit your (?:\w+ )?limit|rate_limit_error|429 too many requests|status(?: code)?:? 429|exceeded your current quota|insufficient_quota|RESOURCE_EXHAUSTED/i;

/** Causes looked through. */
const MAX_LAYERS = 5;

/** The provider's limit behind a failed request; `null` for other failures. */
function providerLimit(error: unknown, now: number): ProviderLimit | null {
  const layers = layersIn(error);
  const status = layers.map((layer) => Number(layer['status'])).find((code) => Number.isInteger(code));
  const texts = layers.map(({ message }) => (typeof message === 'string' ? message : ''));
  const asked = layers.map((layer) => askedFor(layer, now)).find((at) => at !== null) ?? null;
  const said = texts.map((text) => retryTime(text, now)).find((at) => at !== null) ?? null;
  const retryAt = asked ?? said;
  if (status !== undefined && LIMIT_STATUS.has(status)) return { why: String(status), retryAt };
  if (status !== undefined && status >= 500 && asked !== null) return { why: String(status), retryAt };
  return texts.some((text) => LIMIT_TEXT.test(text)) ? { why: 'usage limit', retryAt } : null;
}

function layersIn(error: unknown): readonly Readonly<Record<string, unknown>>[] {
  const layers: Readonly<Record<string, unknown>>[] = [];
  for (let layer = error; layers.length < MAX_LAYERS && typeof layer === 'object' && layer !== null; ) {
    layers.push(layer as Readonly<Record<string, unknown>>);
    layer = (layer as { readonly cause?: unknown }).cause;
  }
  return layers;
}

/** LangChain reads the header and leaves the figure on the error. */
function askedFor({ retryAfterMs, headers }: Readonly<Record<string, unknown>>, now: number): number | null {
  if (typeof retryAfterMs === 'number' && retryAfterMs > 0) return now + retryAfterMs;
  const header = headerOf(headers, 'retry-after');
  if (header === null) return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return seconds > 0 ? now + seconds * 1_000 : null;
  const date = Date.parse(header);
  return Number.isFinite(date) && date > now ? date : null;
}

function headerOf(headers: unknown, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const value = (headers as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof value === 'string' ? value : null;
}

interface ReachedLimit extends ProviderLimit {
  readonly name: string;
  readonly waited: number;
}

/** Not tried again by the engine, which knows it by `waitedMs`; with `retryAt` the run sleeps until then. */
function limitReached(cause: unknown, { name, why, retryAt, waited }: ReachedLimit): DevsError {
  const said = maskSensitiveData(cause instanceof Error ? cause.message : String(cause));
  const at = retryAt === null ? null : new Date(retryAt).toISOString();
  const hour = at === null ? '' : `, which takes requests again at ${at}`;
  const patience = waited === 0 ? '' : ` after ${duration(waited)} of waiting`;
  return new DevsError(`${name} takes no more requests (${why})${patience}${hour}. ${said}`, {
    code: 'AGENT_FAILED',
    remedy:
      at === null
        ? 'Resume the run later, wait longer with --max-wait, or use another model (--agents).'
        : `Resume the run at ${at}: with --wait, a worker or by hand. Or use another model (--agents).`,
    context: { model: name, waitedMs: waited, ...(at !== null && { retryAt: at }) },
    cause,
  });
}

/** `40 s`, `12 min`, `3 h 20 min`. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function timer(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(handle);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const handle = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
