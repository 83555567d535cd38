import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { Receiver } from '../../../../test/support/Receiver.ts';
import { durable } from '../../app/durable.ts';
import type { Webhooks } from '../Webhook.ts';

const SECRET = 'a secret of the receiver';
const ADA = { kind: 'human', id: 'ada' } as const;
const HOUR_MS = 3_600_000;

const Post = Annotation.Root({ text: Annotation<string> });

const posts = () =>
  new StateGraph(Post)
    .addNode('write', () => ({ text: 'green tea' }))
    .addNode('publish', ({ text }) => ({ text: `${text}, published` }))
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END);

function open(db: Database, webhooks: Webhooks, now = Date.now) {
  return durable(posts(), { db, name: 'posts', gates: { publish: ({ text }) => text }, webhooks, now });
}

async function receiver(answer?: () => number | null): Promise<Receiver> {
  const made = await Receiver.start(SECRET, answer);
  onTestFinished(() => made.stop());
  return made;
}

const hookOf = ({ url }: Receiver): Webhooks => ({ team: { url, secret: SECRET } });

describe('webhooks', () => {
  test('receive what happens at gates and the end of a run, signed, once and in order', async ({ db }) => {
    const team = await receiver();
    const app = open(db, hookOf(team));
    const { gates } = await app.run('post-1', { text: '' });
    await app.sendWebhooks({ wait: false });
    await app.decide(only(gates), { approved: true, by: ADA });
    await app.run('post-1');
    await app.sendWebhooks({ wait: false });
    await app.sendWebhooks({ wait: false });
    expect(team.received.map(({ run, type, isGenuine }) => [run, type, isGenuine])).toEqual([
      ['post-1', 'HITL_SESSION_OPENED', true],
      ['post-1', 'HITL_SESSION_DECIDED', true],
      ['post-1', 'RUN_FINISHED', true],
    ]);
    expect(team.received.at(-1)?.body).toMatchObject({ data: { outcome: 'completed' } });
    expect(await app.undelivered()).toEqual([]);
    const about = [];
    for await (const { name } of app.gateEvents({ wait: false })) about.push(name);
    expect(about).toEqual(['HITL_SESSION_OPENED', 'HITL_SESSION_DECIDED']);
  });

  test('get an event again until they take it, and later ones of the same run wait', async ({ db }) => {
    const answers = [500, null, 302, 204];
    const team = await receiver(() => (answers.length > 0 ? (answers.shift() ?? null) : 204));
    let at = Date.now();
    const app = open(db, hookOf(team), () => at);
    const { gates } = await app.run('post-1', { text: '' });
    await app.decide(only(gates), { approved: false, feedback: 'Shorter.', by: ADA });
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await app.sendWebhooks({ wait: false });
      at += HOUR_MS;
    }
    const opened = team.received.slice(0, 4);
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
    expect(opened.map(({ status }) => status)).toEqual([500, 0, 302, 204]);
    expect(team.taken.slice(0, 2).map(({ type }) => type)).toEqual([
      'HITL_SESSION_OPENED',
      'HITL_SESSION_DECIDED',
    ]);
  });

  test('that take nothing for a day are given up, listed, and tried again when asked', async ({ db }) => {
    let status = 503;
    const team = await receiver(() => status);
    let at = Date.now();
    const app = open(db, hookOf(team), () => at);
    await app.run('post-1', { text: '' });
    for (let hour = 0; hour < 40; hour += 1) {
      await app.sendWebhooks({ wait: false });
      at += HOUR_MS;
    }
    const sent = team.received.length;
    const lost = only(await app.undelivered());
    expect(lost).toMatchObject({ target: 'team', threadId: 'post-1', name: 'HITL_SESSION_OPENED' });
    expect(lost.givenUpAt).not.toBeNull();
    expect((lost.givenUpAt ?? 0) - (lost.firstAt ?? 0)).toBeGreaterThanOrEqual(24 * HOUR_MS);
    expect(lost.error).toBe('the receiver answered with 503');
    await app.sendWebhooks({ wait: false });
    expect(team.received).toHaveLength(sent);
    status = 200;
    await app.sendWebhooks({ wait: false, again: true });
    expect(team.taken.map(({ id }) => id)).toEqual([lost.id]);
    expect(await app.undelivered()).toEqual([]);
  });

  test('of a new name leave out what is older than a day', async ({ db }) => {
    const team = await receiver();
    let at = Date.now();
    await open(db, {}, () => at).run('old', { text: '' });
    at += 25 * HOUR_MS;
    const app = open(db, hookOf(team), () => at);
    await app.run('new', { text: '' });
    await app.sendWebhooks({ wait: false });
    expect(team.received.map(({ run }) => run)).toEqual(['new']);
  });

  test('that a caller names hear of the end of that turn alone', async ({ db }) => {
    const team = await receiver();
    const app = open(db, { team: { url: team.url, secret: SECRET, events: [] } });
    await app.run('post-1', { text: '' }, { turn: 'a', webhook: 'team' });
    await app.run('post-2', { text: '' }, { turn: 'a' });
    await app.cancel('post-1', { by: ADA });
    await app.cancel('post-2', { by: ADA });
    await app.run('post-1', { text: '' }, { turn: 'b' });
    await app.sendWebhooks({ wait: false });
    const { data, run } = only(team.received).body;
    expect([run, data]).toEqual(['post-1', { outcome: 'cancelled', turn: 'a', webhook: 'team' }]);
  });

  test('are told by `work`, also where another one fails', async ({ db }) => {
    const [team, silent] = [await receiver(), await receiver()];
    const app = open(db, {
      ...hookOf(team),
      silent: { url: silent.url.replace('http:', 'https:'), secret: SECRET },
    });
    const end = new AbortController();
    const working = app.work({ signal: end.signal });
    await app.start('post-1', { text: '' });
    await expect.poll(() => team.received.length, { timeout: 10_000 }).toBe(1);
    end.abort();
    await working;
    expect((await app.undelivered()).map(({ target }) => target)).toEqual(['silent']);
  });

  test('may have a body of their own, and one that fails is an attempt', async ({ db }) => {
    const team = await receiver();
    const app = open(db, {
      chat: { url: team.url, body: ({ run, type }) => ({ id: 'chat', text: `${run} ${type}` }) },
      none: { url: team.url, body: () => null },
      broken: {
        url: team.url,
        body: () => {
          throw new TypeError(`no template at ${team.url}`);
        },
      },
    });
    await app.run('post-1', { text: '' });
    await app.sendWebhooks({ wait: false });
    expect(only(team.received).body).toEqual({ id: 'chat', text: 'post-1 HITL_SESSION_OPENED' });
    const [lost] = await app.undelivered();
    expect(lost?.target).toBe('broken');
    expect(lost?.error).not.toContain(team.url);
  });

  test('of a run that is deleted are not sent any more', async ({ db }) => {
    const team = await receiver(() => 500);
    const app = open(db, hookOf(team));
    await app.run('post-1', { text: '' });
    await app.sendWebhooks({ wait: false });
    await app.cancel('post-1', { by: ADA });
    await app.delete('post-1', { by: ADA });
    expect(await app.undelivered()).toEqual([]);
    await app.sendWebhooks({ wait: false, again: true });
    expect(team.received).toHaveLength(1);
  });

  test('cost a driver nothing where there are none', async ({ db }) => {
    const app = open(db, {});
    const { gates } = await app.run('post-1', { text: '' });
    await app.decide(only(gates), { approved: true, by: ADA });
    await app.run('post-1');
    expect(db.prepare('SELECT count(*) FROM gate_events').pluck().get()).toBe(2);
  });

  const url = 'https://hooks.example.org/T0/secretpart';
  test.each([
    [{ 'a b': { url, secret: SECRET } }, /a name has/],
    [{ team: { url: 'ftp://example.org', secret: SECRET } }, /url/],
    [{ team: { url: 'not an address', secret: SECRET } }, /url/],
    [{ team: { url: 'https://me:pass@example.org', secret: SECRET } }, /would not be sent/],
    [{ team: { url } }, /secret/],
    [{ team: { url, secret: 'short' } }, /secret/],
    [{ team: { url, secret: 'whsec_AAAA' } }, /secret/],
    [{ team: { url, secret: SECRET, events: ['NODE_STARTED'] } }, /events/],
    [{ team: { url, secret: SECRET, body: 'text' } }, /body/],
    [{ team: { url, secret: SECRET, headers: {} } }, /headers/],
  ])('that cannot be used are refused, and no message has the address: %j', (webhooks, message) => {
    const make = () => durable(posts(), { file: ':memory:', webhooks: webhooks as unknown as Webhooks });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
    expect(make).not.toThrow(/secretpart/);
  });

  test('are named by callers of runs, who give no address', async ({ db }) => {
    const app = open(db, { team: { url, secret: SECRET } });
    for (const webhook of ['https://evil.example/', 'Team', '__proto__', '']) {
      await expect(app.start('post-1', { text: '' }, { webhook })).rejects.toThrow(TypeError);
      await expect(app.run('post-1', { text: '' }, { webhook })).rejects.toThrow(/team/);
    }
    expect(await app.get('post-1')).toBeNull();
    await expect(open(db, {}).run('post-1', { text: '' }, { webhook: 'team' })).rejects.toThrow(
      /no webhooks/,
    );
  });
});
