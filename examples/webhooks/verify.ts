// Checks a request of a webhook. Copy it: it needs only Node.js. Libraries for Standard Webhooks do the same.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Older requests are refused, because they may be recordings; seconds. */
const TOLERANCE_S = 300;

/**
 * @param body - The bytes as they came, before they are parsed.
 * @param now - Seconds since the Unix epoch.
 */
export function isGenuine(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string,
  secret: string,
  now = Date.now() / 1000,
): boolean {
  const [id, at, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name]),
  );
  if (!(Math.abs(now - Number(at)) <= TOLERANCE_S)) return false;
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
  const expected = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest();
  return String(signatures)
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => Buffer.from(each.slice(3), 'base64'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
