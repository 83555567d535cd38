import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import { mailServer } from '../../../../examples/webhooks/mail.ts';
import { slack } from '../../../../examples/webhooks/slack.ts';
import { isGenuine } from '../../../../examples/webhooks/verify.ts';
import { test } from '../support/fixtures.ts';
import { hookedApp } from './hookedGraph.ts';

const SECRET = 'a secret of the receiver';

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the example of webhooks', () => {
  test('sends each event as one mail, and refuses requests of strangers', async ({ dbPath }) => {
    const mails: string[] = [];
    let isDown = true;
    const server = mailServer('team@example.org', SECRET, async (to, subject) => {
      if (isDown) throw new Error('The mail service is down.');
      mails.push(`${to} ${subject}`);
    });
    const url = await listen(server);
    const app = hookedApp(dbPath, url, SECRET);
    await app.run('post-1', { text: '' });
    await app.sendWebhooks({ wait: false });
    expect((await app.undelivered()).map(({ error }) => error)).toEqual(['the receiver answered with 503']);
    isDown = false;
    await expect
      .poll(
        async () => {
          await app.sendWebhooks({ wait: false });
          return mails;
        },
        { timeout: 10_000 },
      )
      .toEqual(['team@example.org post-1: HITL_SESSION_OPENED']);
    const forged = await fetch(url, { method: 'POST', body: '{}', headers: { 'webhook-id': '1' } });
    expect([forged.status, mails.length]).toEqual([401, 1]);
    app.close();
  });

  test('links a message in Slack to the gate, and lets no name of a run mention people', () => {
    const body = slack('https://hooks.slack.com/x', 'https://devs.example.org').body?.({
      ...{ id: '1', type: 'HITL_SESSION_OPENED', timestamp: '', run: '<!channel> a/b', seq: 1 },
      data: { sessionId: 's' },
    });
    const text = JSON.stringify(body);
    expect(text).toContain('https://devs.example.org/#/runs/%3C!channel%3E%20a%2Fb/gates/s');
    expect(text).toContain('&lt;!channel&gt;');
    expect(text).not.toContain('<!channel>');
  });

  test('takes no old request, none of another key, and none whose text was changed', async ({ dbPath }) => {
    const seen: { headers: IncomingHttpHeaders; body: string }[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
        response.writeHead(204).end();
      });
    });
    const url = await listen(server);
    const app = hookedApp(dbPath, url, SECRET);
    await app.run('post-1', { text: '' });
    await app.sendWebhooks({ wait: false });
    app.close();
    const [{ headers, body } = { headers: {}, body: '' }] = seen;
    const now = Date.now() / 1000;
    expect(isGenuine(headers, body, SECRET, now)).toBe(true);
    expect(isGenuine(headers, body, SECRET, now + 3600)).toBe(false);
    expect(isGenuine(headers, body, 'a secret of a stranger', now)).toBe(false);
    expect(isGenuine(headers, body.replace('post-1', 'post-2'), SECRET, now)).toBe(false);
    expect(isGenuine({}, body, SECRET, now)).toBe(false);
  });
});
