import { createHmac } from 'node:crypto';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { OutboxEvent } from '../../state/events/EventStore.ts';
import { ANSWER_MS, type OutboxTarget } from '../outbox/OutboxSender.ts';
import { isFor, keyOf, type Webhook, type WebhookMessage, type Webhooks } from './Webhook.ts';

const ERROR_CHARACTERS = 200;

export const webhookTargets = (webhooks: Webhooks): readonly OutboxTarget[] =>
  Object.entries(webhooks).map(([name, webhook]) => ({
    name,
    wants: (event) => isFor([name, webhook], event),
    deliver: (event, signal) => postWebhook(webhook, event, signal),
  }));

/** Why the receiver has not taken an event; `null` where it has. The address is not in it: it may be a secret. */
async function postWebhook(
  webhook: Webhook,
  event: OutboxEvent,
  signal: AbortSignal,
): Promise<string | null> {
  const { url, secret, body: bodyOf = (message: WebhookMessage): unknown => message } = webhook;
  const late = AbortSignal.timeout(ANSWER_MS);
  try {
    const given = bodyOf(messageOf(event));
    if (given === null || given === undefined) return null;
    const body = JSON.stringify(given);
    const response = await fetch(url, {
      ...{ method: 'POST', body, redirect: 'manual', headers: headersOf(event.cursor, body, secret) },
      signal: AbortSignal.any([signal, late]),
    });
    await response.body?.cancel();
    return response.ok ? null : `the receiver answered with ${response.status}`;
  } catch (error) {
    if (late.aborted) return `the receiver did not answer within ${ANSWER_MS} ms`;
    return maskSensitiveData(reasonOf(error, url)).slice(0, ERROR_CHARACTERS);
  }
}

/** As Standard Webhooks are signed. */
function headersOf(id: string, body: string, secret: string | undefined): Record<string, string> {
  const at = String(Math.floor(Date.now() / 1000));
  const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': at };
  if (secret === undefined) return headers;
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${at}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

const messageOf = ({ cursor, name, at, threadId, seq, payload }: OutboxEvent): WebhookMessage => ({
  id: cursor,
  type: name,
  timestamp: new Date(at).toISOString(),
  run: threadId ?? '',
  seq,
  data: payload as WebhookMessage['data'],
});

/** `fetch` hides the reason in the cause. */
function reasonOf(error: unknown, url: string): string {
  const { code, message } = ((error as Error | undefined)?.cause ?? {}) as Partial<Record<string, unknown>>;
  const words = [code, message].find((each) => typeof each === 'string' && each !== '') ?? String(error);
  return `the request failed: ${String(words).replaceAll(url, 'the address')}`;
}
