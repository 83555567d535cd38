import { withKnownNames } from '../../config/knownOptions.ts';
import { OUTBOX_EVENTS, type OutboxEventName } from '../../events/events.ts';

/** The JSON body of a request. */
export interface WebhookMessage {
  /** The same event has the same id, however often it is sent. Whole numbers as text, in the order of the events. */
  readonly id: string;
  readonly type: OutboxEventName;
  /** When it happened: ISO 8601, UTC. */
  readonly timestamp: string;
  readonly run: string;
  /** Its position in the log of the run. */
  readonly seq: number;
  /** The payload of the event: ids, numbers and masked text. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Receives events as requests. */
export interface Webhook {
  /** `http` or `https`. */
  readonly url: string;
  /** Signs each request, as Standard Webhooks do: at least 16 characters, or `whsec_` and Base64. Optional with `body`. */
  readonly secret?: string;
  /** @defaultValue a gate was opened, reminded or decided; a run ended. With an empty list, ends of runs that name the webhook */
  readonly events?: readonly OutboxEventName[];
  /** Returns the JSON to send in place of the message, for a service with a form of its own; `null` skips the event. */
  readonly body?: (message: WebhookMessage) => unknown;
}

/** Webhooks of an app, by name. */
export type Webhooks = Readonly<Record<string, Webhook>>;

const USUAL: readonly OutboxEventName[] = [
  'HITL_SESSION_OPENED',
  'GATE_REMINDED',
  'HITL_SESSION_DECIDED',
  'RUN_FINISHED',
];

const EVENTS: ReadonlySet<string> = new Set(OUTBOX_EVENTS);

const NAME = /^[A-Za-z0-9_-]{1,40}$/;

const FEWEST_CHARACTERS = 16;

const MEMBERS = { url: true, secret: true, events: true, body: true } satisfies Record<keyof Webhook, true>;

/** Does not repeat an address or a secret in a message. @throws TypeError for webhooks that cannot be used. */
export function assertWebhooks(webhooks: Webhooks): void {
  if (typeof webhooks !== 'object' || webhooks === null)
    throw new TypeError('webhooks: expected an object with a webhook for each name.');
  for (const [name, webhook] of Object.entries(webhooks)) assertWebhook(name, webhook);
}

function assertWebhook(name: string, webhook: Webhook): void {
  const place = `webhooks.${name}`;
  if (!NAME.test(name)) throw new TypeError('webhooks: a name has 1 to 40 of A-Z, a-z, 0-9, _ and -.');
  const { url, secret, events = USUAL, body } = withKnownNames(place, webhook, MEMBERS);
  assertUrl(url, place);
  if (body !== undefined && typeof body !== 'function')
    throw new TypeError(`${place}.body: expected a function.`);
  if (secret === undefined && body === undefined)
    throw new TypeError(`${place}.secret: the receiver needs it to check the signature.`);
  if (secret !== undefined && keyOf(secret).length < FEWEST_CHARACTERS)
    throw new TypeError(`${place}.secret: expected at least ${FEWEST_CHARACTERS} characters.`);
  const unknown = Array.isArray(events) ? events.find((event) => !EVENTS.has(event)) : events;
  if (unknown !== undefined)
    throw new TypeError(`${place}.events: expected a list of ${[...EVENTS].join(', ')}.`);
}

function assertUrl(url: string, place: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new TypeError(`${place}.url: expected an address that begins with https:// or http://.`);
  if (parsed.username !== '' || parsed.password !== '')
    throw new TypeError(`${place}.url: a user or a password in it would not be sent.`);
}

/** The bytes that sign. */
export const keyOf = (secret: unknown): Buffer => {
  if (typeof secret !== 'string') return Buffer.alloc(0);
  return secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret);
};

/** Whether an event goes to a webhook: by its name, or because the caller of the run has named the webhook. */
export function isFor(
  [name, { events = USUAL }]: readonly [name: string, webhook: Webhook],
  event: { readonly name: OutboxEventName; readonly payload: { readonly webhook?: string } | object },
): boolean {
  if (events.includes(event.name)) return true;
  return event.name === 'RUN_FINISHED' && 'webhook' in event.payload && event.payload.webhook === name;
}

/** A caller of a run can only name a webhook that the program has configured. @throws TypeError */
export function assertKnownWebhook(name: unknown, webhooks: Webhooks): void {
  if (name === undefined || (typeof name === 'string' && Object.hasOwn(webhooks, name))) return;
  const known = Object.keys(webhooks);
  throw new TypeError(
    known.length === 0
      ? 'webhook: the app has no webhooks. Configure them with the option `webhooks` of durable().'
      : `webhook: expected the name of a configured webhook, not an address: ${known.join(', ')}.`,
  );
}
