import { LOOK_EVERY_MS } from '../../db/FileWatch.ts';
import { News } from '../../events/News.ts';
import type { OutboxEvent } from '../../state/events/EventStore.ts';
import type { ClaimedDelivery, WebhookRows } from '../../state/events/WebhookStore.ts';
import type { GateEventSource } from '../runs/gateEvents.ts';

/** A receiver of events. */
export interface OutboxTarget {
  /** Under which its deliveries are recorded. */
  readonly name: string;
  wants(event: OutboxEvent): boolean;
  /** Why the target has not taken an event, masked; `null` where it has. Does not reject. */
  deliver(event: OutboxEvent, signal: AbortSignal): Promise<string | null>;
}

/** Options of `sendWebhooks`. */
export interface SendOptions {
  /** Aborting it ends the loop, and the requests in flight: they are sent again. */
  readonly signal?: AbortSignal;
  /** `false`: returns after the last delivery that is due. @defaultValue true */
  readonly wait?: boolean;
  /** First takes up deliveries that were given up. @defaultValue false */
  readonly again?: boolean;
}

interface Outbox {
  readonly events: GateEventSource;
  readonly rows: WebhookRows;
}

const DAY_MS = 86_400_000;
/** Events that are read, and delivered, at once. */
const PAGE = 100;
const PARALLEL = 8;
/** How long a target may take with an event, ms. */
export const ANSWER_MS = 15_000;
/** After this the sender of an event counts as dead, ms. */
const HOLD_MS = 2 * ANSWER_MS;
/** Before the second attempt, ms; doubled each time. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** So many attempts are made before a delivery is a day old, by a steady clock. */
const FEWEST_ATTEMPTS = 20;

/**
 * Delivers events until `signal` is aborted. A driver of runs does not wait for this. Any number of processes may
 * deliver: each event belongs to one of them at a time.
 */
export async function sendOutbox(
  targets: readonly OutboxTarget[],
  options: SendOptions,
  outbox: Outbox,
): Promise<void> {
  if (options.again === true) for (const { name } of targets) await outbox.rows.again(name);
  await Promise.all(targets.map((target) => new OutboxSender(target, options, outbox).untilStopped()));
}

/** Delivers to one target. A slow one does not hold up the others. */
class OutboxSender {
  readonly #target: OutboxTarget;
  readonly #signal: AbortSignal;
  readonly #waits: boolean;
  readonly #outbox: Outbox;

  constructor(target: OutboxTarget, { signal, wait = true }: SendOptions, outbox: Outbox) {
    this.#target = target;
    this.#signal = signal ?? new AbortController().signal;
    this.#waits = wait;
    this.#outbox = outbox;
  }

  async untilStopped(): Promise<void> {
    const news = new News();
    const end = this.#waits ? await this.#outbox.events.watch(() => news.tell()) : () => {};
    try {
      while (!this.#signal.aborted) {
        const hasRead = await this.#readPage();
        const hasSent = await this.#sendDue();
        if (hasRead || hasSent) continue;
        if (!this.#waits) return;
        await news.next(2 * LOOK_EVERY_MS, this.#signal);
      }
    } finally {
      end();
    }
  }

  /** Queues the events of the next page that the target wants. False at the end. */
  async #readPage(): Promise<boolean> {
    const { events, rows } = this.#outbox;
    const { name } = this.#target;
    const { after, since } = await rows.place(name, DAY_MS);
    const page = await events.page({ after, limit: PAGE });
    const last = page.at(-1);
    if (last === undefined) return false;
    const wanted = page.filter((event) => event.at >= since && this.#target.wants(event));
    await rows.queue(name, { from: after, to: last.cursor, events: wanted });
    return true;
  }

  /** False without a due delivery. */
  async #sendDue(): Promise<boolean> {
    const { name } = this.#target;
    const claimed = await this.#outbox.rows.claim(name, { limit: PARALLEL, holdMs: HOLD_MS });
    await Promise.all(claimed.map((delivery) => this.#attempt(delivery)));
    return claimed.length > 0;
  }

  async #attempt({ event, attempts, ageMs }: ClaimedDelivery): Promise<void> {
    const { rows } = this.#outbox;
    const { name } = this.#target;
    const error = await this.#target.deliver(event, this.#signal);
    if (error === null) return rows.delivered(name, event.cursor);
    if (this.#signal.aborted)
      return rows.failed(name, event.cursor, { error: 'the sender was stopped', againInMs: 0 });
    const isGivenUp = ageMs >= DAY_MS && attempts >= FEWEST_ATTEMPTS;
    const againInMs = isGivenUp ? null : Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
    return rows.failed(name, event.cursor, { error, againInMs });
  }
}
