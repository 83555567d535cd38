import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DevsError, Orchestrator } from '@devs/core';
import { createDatabase } from '@devs/core/state';
import { describe, expect, onTestFinished } from 'vitest';
import { SESSION_HEADER } from '../src/session/OneTimeCodes.ts';
import type { InboxView } from '../src/views/inboxView.ts';
import { fillWithRuns } from './support/fillWithRuns.ts';
import { mounted, openShop, serve, test, waitingRun } from './support/fixtures.ts';

/** The events of a stream, one after the other. */
async function* eventsOf({ body }: Response): AsyncGenerator<string> {
  let text = '';
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(piece);
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    yield* events;
  }
}

describe('the handler, mounted', () => {
  test('shows the inbox, a gate with what was sent back before it, and the run', async ({ dir }) => {
    const run = await waitingRun(dir);
    const [first] = await run.gates();
    const { ask, post } = mounted(dir);
    const decision = { artifactHash: first?.artifactHash, answer: { approved: false, feedback: 'Shorter.' } };
    await post(`/inbox/api/runs/shop/gates/${first?.sessionId}/decision`, decision);
    await run.resume();

    const { gates, runs } = (await (await ask('/inbox/api/inbox')).json()) as InboxView;
    expect(runs).toMatchObject([{ id: 'shop', title: 'Shop', openGates: 1, tasks: { total: 0 } }]);
    expect(gates).toMatchObject([
      { about: 'Design', threadId: 'shop', title: 'Shop', asks: 'Is this the design?', tasks: [] },
    ]);
    expect(gates[0]?.cost).toEqual((await run.status()).cost);
    expect(await (await ask('/inbox/api/waiting')).json()).toEqual({ total: 1, running: 0 });
    const gate = await (await ask(`/inbox/api/runs/shop/gates/${gates[0]?.sessionId}`)).json();
    expect(gate).toMatchObject({
      isOpen: true,
      before: { feedback: 'Shorter.', principal: 'human:ada', artifactHash: first?.artifactHash },
      versions: [{ sessionId: first?.sessionId, isOpen: false }],
      choices: [
        { name: 'approve', approves: true },
        { name: 'reject', words: { isRequired: true } },
        { name: 'edit', form: { kind: 'proposal' } },
      ],
    });
    const old = await (await ask(`/inbox/api/runs/shop/gates/${first?.sessionId}`)).json();
    expect(old).toMatchObject({
      isOpen: false,
      choices: [],
      next: gates[0]?.sessionId,
      closed: { status: 'resumed' },
    });
    const shown = await (await ask('/inbox/api/runs/shop')).json();
    expect(shown).toMatchObject({
      id: 'shop',
      past: [{ said: 'sent back' }],
      spending: { tasks: [{ name: 'run' }] },
    });
    const { gates: open, ...status } = await run.status();
    expect(shown).toMatchObject(JSON.parse(JSON.stringify(status)));
    expect(open).toHaveLength(1);
  });

  test('shows many runs page by page, and of all of them those that stopped without a question', async ({
    dir,
  }) => {
    fillWithRuns(dir, { runs: 60, waitsEvery: 100 });
    const db = createDatabase({ dbPath: join(dir, 'state.sqlite') });
    const stand = (status: string, reason: string | null, ids: string) =>
      db.prepare(`UPDATE threads SET status = ?, reason = ? WHERE thread_id IN (${ids})`).run(status, reason);
    stand('failed', 'no disk', "'run-2'");
    stand('paused', 'asked to stop', "'run-3'");
    stand('running', null, "'run-4'");
    stand('completed', null, "'run-5'");
    db.close();
    const { ask, errorAt } = mounted(dir);
    const inbox = (await (await ask('/inbox/api/inbox')).json()) as InboxView;
    const idsOf = ({ runs }: Pick<InboxView, 'runs'>) => runs.map(({ id }) => id);
    expect(idsOf({ runs: inbox.stopped }).sort()).toEqual(['run-2', 'run-3', 'run-4']);
    expect(inbox.stopped).toContainEqual(expect.objectContaining({ reason: 'no disk' }));
    expect([inbox.runs.length, inbox.nextRuns, inbox.nextGates]).toEqual([50, 'run-10', null]);
    const rest = (await (await ask(`/inbox/api/runs?after=${inbox.nextRuns}`)).json()) as InboxView;
    expect([...idsOf(inbox), ...idsOf(rest)]).toEqual(Array.from({ length: 60 }, (_, n) => `run-${59 - n}`));
    expect(rest.nextRuns).toBeNull();
    expect(await errorAt(ask('/inbox/api/runs?after=nobody'))).toMatchObject({ code: 'THREAD_NOT_FOUND' });
    expect(await errorAt(ask('/inbox/api/gates?after=nowhere'))).toMatchObject({ code: 'INVALID_REQUEST' });
  });

  test('shows the gates that wait longest first, page by page', async ({ dir }) => {
    fillWithRuns(dir, { runs: 60, waitsEvery: 1 });
    const { ask } = mounted(dir);
    const first = (await (await ask('/inbox/api/inbox')).json()) as InboxView;
    const rest = (await (
      await ask(`/inbox/api/gates?after=${encodeURIComponent(first.nextGates ?? '')}`)
    ).json()) as InboxView;
    expect([first.gates.length, first.total, rest.gates.length, rest.nextGates]).toEqual([50, 60, 10, null]);
    const all = [...first.gates, ...rest.gates];
    expect(new Set(all.map(({ threadId }) => threadId)).size).toBe(60);
    expect(all.map(({ openedAt }) => openedAt)).toEqual(all.map(({ openedAt }) => openedAt).sort());
    expect(first.gates[0]).toMatchObject({ asks: 'Go on?', message: 'Go on?' });
  });

  test('answers as the command line does where it cannot do what was asked', async ({ dir }) => {
    const run = await waitingRun(dir);
    const [gate] = await run.gates();
    const { ask, post, errorAt } = mounted(dir);
    const at = `/inbox/api/runs/shop/gates/${gate?.sessionId}/decision`;
    const { artifactHash = '' } = gate ?? {};
    const codeOf = async (answer: Promise<Response>) => (await errorAt(answer)).code;

    expect(await codeOf(ask('/inbox/api/runs/none'))).toBe('THREAD_NOT_FOUND');
    expect(await codeOf(ask('/inbox/api/runs/shop/gates/none'))).toBe('GATE_NOT_FOUND');
    expect(await codeOf(ask('/inbox/api/runs/%zz'))).toBe('NOT_FOUND');
    expect(await codeOf(ask('/inbox/api/nothing'))).toBe('NOT_FOUND');
    expect(await codeOf(ask('/api/inbox'))).toBe('NOT_FOUND');
    expect(await codeOf(post('/inbox/api/inbox', {}))).toBe('METHOD_REFUSED');
    expect(await codeOf(post('/inbox/api/session', { code: 'x' }))).toBe('CODE_REFUSED');
    expect(await codeOf(post(at, { artifactHash: 'f'.repeat(64), answer: { approved: true } }))).toBe(
      'GATE_STALE',
    );
    expect(await codeOf(post(at, { artifactHash, answer: { action: 'retry' } }))).toBe('INVALID_ANSWER');
    expect(await codeOf(post(at, { artifactHash, answer: { approved: false } }))).toBe('FEEDBACK_REQUIRED');
    expect(await codeOf(post(at, { artifactHash, answer: { by: 'human:eve' } }))).toBe('INVALID_REQUEST');
    expect(await codeOf(post(at, 'x'.repeat(5_000_000)))).toBe('INVALID_REQUEST');
    expect(await codeOf(ask(at, { method: 'POST', body: '{' }))).toBe('INVALID_REQUEST');
    expect(await run.gates()).toHaveLength(1);
  });

  test('asks who it is, and lets nobody decide where it only reads', async ({ dir }) => {
    const run = await waitingRun(dir);
    const [gate] = await run.gates();
    const at = `/inbox/api/runs/shop/gates/${gate?.sessionId}/decision`;
    const body = { artifactHash: gate?.artifactHash, answer: { approved: true } };
    const nobody = mounted(dir, { identify: async () => null });
    expect(await nobody.errorAt(nobody.ask('/inbox/api/inbox'))).toMatchObject({ code: 'NOT_SIGNED_IN' });
    const agent = mounted(dir, { identify: () => ({ kind: 'agent', id: 'x' }) as never });
    expect(await agent.errorAt(agent.post(at, body))).toMatchObject({ code: 'AGENT_MAY_NOT_DECIDE' });
    const reader = mounted(dir, { readOnly: true });
    expect(await reader.errorAt(reader.post(at, body))).toMatchObject({ code: 'READ_ONLY' });
    const broken = mounted(dir, {
      identify: () => Promise.reject(new Error('token=Tr0ub4dor-and-3-canaries')),
    });
    const failure = await broken.ask('/inbox/api/inbox');
    expect(failure.status).toBe(500);
    expect(await failure.text()).not.toContain('canaries');
    expect(await run.gates()).toHaveLength(1);
  });

  test('tells a state file that is missing, damaged, newer or older, and changes none of them', async ({
    dir,
  }) => {
    const { ask, errorAt } = mounted(dir);
    const file = join(dir, 'state.sqlite');
    const told = async () => errorAt(ask('/inbox/api/inbox'));
    expect(await told()).toMatchObject({ code: 'STATE_IO', remedy: expect.stringContaining('devs run') });
    expect(() => statSync(file)).toThrow();

    const edit = (sql: string): void => {
      const db = createDatabase({ dbPath: file });
      db.exec(sql);
      db.close();
    };
    edit("INSERT INTO schema_migrations VALUES (999, '999_later', 'x', 'now')");
    const bytes = readFileSync(file);
    expect(await told()).toMatchObject({ code: 'SCHEMA_TOO_NEW' });
    expect(readFileSync(file)).toEqual(bytes);
    rmSync(file);
    edit('DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)');
    expect(await told()).toMatchObject({
      code: 'CONFIG_INVALID',
      remedy: expect.stringContaining('devs status'),
    });
  });

  test('tells every page what any process commits, and that the file is another one; nothing holds the log', async ({
    dir,
  }) => {
    const devs = await openShop(dir);
    const { ask } = mounted(dir);
    const pages = [eventsOf(await ask('/inbox/api/changes')), eventsOf(await ask('/inbox/api/changes'))];
    const next = async () => Promise.all(pages.map(async (page) => (await page.next()).value));
    const change = 'event: change\ndata: {}';
    expect(await next()).toEqual([change, change]); // at once
    expect(await next()).toEqual([change, change]); // the first look

    await devs.start({ id: 'shop', brief: '# Shop' });
    expect(await next()).toEqual([change, change]);
    const other = createDatabase({ dbPath: join(dir, 'state.sqlite') });
    expect(other.pragma('wal_checkpoint(TRUNCATE)')).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
    other.close();

    for (const part of ['', '-wal', '-shm']) rmSync(join(dir, `state.sqlite${part}`), { force: true });
    expect(await next()).toEqual([change, change]);
    const again = await Orchestrator.open({ dir });
    onTestFinished(() => again.close());
    expect(await next()).toEqual([change, change]);
    for (const page of pages) await page.return(undefined);
  });

  test('opens no file for a page that has gone', async ({ dir }) => {
    await openShop(dir);
    const { ask } = mounted(dir);
    await (await ask('/inbox/api/changes')).body?.cancel();
    const events = eventsOf(await ask('/inbox/api/changes'));
    expect((await events.next()).value).toContain('change');
    expect((await events.next()).value).toContain('change');
    await events.return(undefined);
  });

  test('serves what the build made, and says so where there is none', async ({ dir }) => {
    const { ask } = mounted(dir, {
      readAsset: async (name) => {
        throw new DevsError(`There is no ${name}.`, { code: 'STATE_IO', remedy: 'Build it.' });
      },
    });
    expect((await ask('/inbox/')).status).toBe(503);
  });
});

describe('on loopback', () => {
  test('the page is reached over both addresses of this machine, under each of its names', async ({
    dir,
  }) => {
    await openShop(dir);
    const { port, codes } = await serve(dir);
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      const origin = `http://${host}:${port}`;
      const headers = { origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
      const body = JSON.stringify({ code: codes.at(-1) });
      const signIn = fetch(`${origin}/api/session`, { method: 'POST', headers, body });
      // Not every machine has IPv6.
      const answer = host === '[::1]' ? await signIn.catch(() => null) : await signIn;
      if (answer === null) continue;
      const { secret } = (await answer.json()) as { secret: string };
      const inbox = await fetch(`${origin}/api/inbox`, { headers: { ...headers, [SESSION_HEADER]: secret } });
      expect(await inbox.json()).toMatchObject({ gates: [], runs: [], total: 0 });
    }
  });
});
