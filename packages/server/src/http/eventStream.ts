import type { OpenStreams } from './OpenStreams.ts';
import { serialize } from './serialize.ts';

/** One event on the wire. */
export interface SentEvent {
  readonly event: string;
  readonly data: unknown;
  /** Where a client goes on; absent for an event that is not stored. */
  readonly id?: string;
}

/** Keeps proxies from closing a silent stream, and shows a client that its stream is alive, ms. */
const HEARTBEAT_MS = 5_000;
/** A reader that stalls for so long is let go, ms. It may come back to where it was. */
const MOST_STALLED_MS = 120_000;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

export interface EventStreamOptions {
  readonly streams: OpenStreams;
  /** The name of the principal. */
  readonly reader: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The client is gone before the end. */
  readonly onLeft?: () => void;
}

/**
 * Answers with events as they come. A group of events arrives together or not at all: a client that knows its last `id` has all
 * of it. The client takes events at its own speed, and the server reads on only then.
 *
 * @param read - Yields groups until it is done or `signal` is aborted.
 */
export function eventStream(
  read: (signal: AbortSignal) => AsyncGenerator<readonly SentEvent[], void>,
  { streams, reader, headers, onLeft }: EventStreamOptions,
): Response {
  const { stop, end } = streams.begin(reader);
  const groups = read(stop.signal);
  const sender = new Sender(groups, end);
  stop.signal.addEventListener('abort', () => sender.close(), { once: true });
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => sender.start(controller, () => stop.abort()),
      pull: () => sender.pull(),
      cancel: () => {
        onLeft?.();
        stop.abort();
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { ...HEADERS, ...headers } });
}

/** Sends groups as they are pulled, and heartbeats meanwhile. */
class Sender {
  readonly #groups: AsyncGenerator<readonly SentEvent[], void>;
  readonly #end: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #heartbeat: NodeJS.Timeout | undefined;
  #stalled: NodeJS.Timeout | undefined;
  #leave: () => void = () => {};

  constructor(groups: AsyncGenerator<readonly SentEvent[], void>, end: () => void) {
    this.#groups = groups;
    this.#end = end;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>, leave: () => void): void {
    this.#controller = controller;
    this.#leave = leave;
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
    controller.enqueue(bytes(': connected\n\n'));
  }

  async pull(): Promise<void> {
    clearTimeout(this.#stalled);
    try {
      for (let isSent = false; !isSent && this.#controller !== null; ) {
        const next = await this.#groups.next();
        if (next.done === true) return this.close();
        isSent = next.value.length > 0;
        if (isSent) this.#send(next.value.map(eventText).join(''));
      }
    } catch {
      this.close(); // a failure has an event of its own
    }
  }

  /** At once; the generator ends when its signal is aborted. */
  close(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#stalled);
    this.#end();
    const controller = this.#controller;
    this.#controller = null;
    try {
      controller?.close();
    } catch {
      // cancelled by the client
    }
  }

  #send(text: string): void {
    this.#controller?.enqueue(bytes(text));
    this.#stalled = setTimeout(() => this.#leave(), MOST_STALLED_MS).unref();
  }

  #beat(): void {
    if ((this.#controller?.desiredSize ?? 0) > 0) this.#controller?.enqueue(bytes(': heartbeat\n\n'));
  }
}

const encoder = new TextEncoder();
const bytes = (text: string): Uint8Array => encoder.encode(text);

function eventText({ id, event, data }: SentEvent): string {
  const name = event.replaceAll(/[\r\n]/g, ' ');
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${serialize(data)}\n\n`;
}
