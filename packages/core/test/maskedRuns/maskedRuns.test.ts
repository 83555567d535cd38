import { readFileSync, writeFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { test as base } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { ada, appsOver, bank, bob, CONTEXT, INPUT, PAID, TOKEN, TOLD, VOTE } from './maskedRuns.ts';

const ARCHIVE = new URL('maskedRuns.sqlite.br', import.meta.url);

const test = base.extend<{ left: Database }>({
  left: async ({ dbPath }, use) => {
    writeFileSync(dbPath, brotliDecompressSync(readFileSync(ARCHIVE)));
    const db = createDatabase({ dbPath });
    await use(db);
    db.close();
  },
});

const yes = (value: unknown) => ({ value, by: ada, withHidden: 1 });

describe('a run of a release that masked what it recorded', () => {
  test('knows its input and its context again, with their secrets, and no other', async ({ left }) => {
    const { asking } = appsOver(left);
    expect(await asking.run('asks', INPUT, CONTEXT)).toMatchObject({ status: 'waiting' });
    const other = { ...INPUT, note: { text: 'without' } };
    await expect(asking.run('asks', other)).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
    const elsewhere = { configurable: { tenant: 'other' } };
    await expect(asking.run('asks', INPUT, elsewhere)).rejects.toMatchObject({
      code: 'INPUT_NOT_TAKEN',
      message: expect.stringContaining('different configurable'),
    });
  });

  test('asks what it asked, and takes the answer to that', async ({ left }) => {
    const { asking } = appsOver(left);
    const gate = only(await asking.gates('asks'));
    expect(gate).toMatchObject({ artifact: { run: 'curl -H "[REDACTED:github]"' }, masked: 1 });
    const unread = asking.decide(gate, { value: 'yes', by: ada });
    await expect(unread).rejects.toThrow(/masked before the gate opened/);
    await asking.decide(gate, yes({ token: TOKEN }));
    const { status, values } = await asking.run('asks');
    expect([status, values?.heard]).toEqual(['completed', { token: TOKEN }]);
    expect(left.prepare("SELECT count(*) FROM hitl_sessions WHERE thread_id = 'asks'").pluck().get()).toBe(1);
  });

  test('knows a vote again, with its words, and goes on by the next', async ({ left }) => {
    const { gated } = appsOver(left);
    const gate = only(await gated.gates('votes'));
    expect((await gated.decide(gate, { ...VOTE, withHidden: 1 })).status).toBe('awaiting_approval');
    await expect(gated.decide(gate, { ...VOTE, feedback: 'No.', withHidden: 1 })).rejects.toMatchObject({
      code: 'ALREADY_VOTED',
    });
    await gated.decide(gate, { approved: true, by: bob, withHidden: 1 });
    expect(await gated.run('votes')).toMatchObject({ status: 'completed', values: { heard: 'acted' } });
  });

  test('knows a signal again, and hears the one that it waits for as it is told', async ({ left }) => {
    const { waiting } = appsOver(left);
    const tell = (name: string, payload: unknown, signalId: string) =>
      waiting.signal('waits', name, payload, { by: bank, signalId });
    const { payload, options } = TOLD;
    expect(await tell(`later ${TOKEN}`, payload, options.signalId)).toEqual({ isNew: false });
    await expect(tell(`later ${TOKEN}`, {}, options.signalId)).rejects.toMatchObject({
      code: 'SIGNAL_NOT_TAKEN',
    });
    expect(await tell(PAID, payload, 's-2')).toEqual({ isNew: true });
    expect((await waiting.run('waits')).values?.heard).toEqual(payload);
  });

  test('knows its turns, and takes in the next one exactly', async ({ left }) => {
    const { asking } = appsOver(left);
    expect(await asking.run('chat', INPUT, { turn: '1' })).toMatchObject({ status: 'completed', turn: '1' });
    const { gates } = await asking.run('chat', INPUT, { turn: '2' });
    await asking.decide(only(gates), yes('on'));
    await asking.run('chat', undefined, { turn: '2' });
    const note = { text: `the third with ${TOKEN}` };
    const third = await asking.run('chat', { note }, { turn: '3' });
    expect(third).toMatchObject({ status: 'waiting', values: { note } });
    expect(await asking.run('chat', { note }, { turn: '3' })).toMatchObject({ status: 'waiting' });
    expect(doctor(left).findings.filter(({ code }) => code !== 'ROW_UNSEALED')).toEqual([]);
  });

  test('leaves its law to its forks, and none to the runs beside it', async ({ left }) => {
    const { asking } = appsOver(left);
    await asking.fork('asks', { as: 'forked', by: ada });
    expect(await asking.run('forked', INPUT, CONTEXT)).toMatchObject({ status: 'waiting' });
    expect(only(await asking.gates('forked')).artifact).toMatchObject({ run: 'curl -H "[REDACTED:github]"' });
    const { gates } = await asking.run('new', INPUT);
    expect(only(gates).artifact).toMatchObject({ run: `curl -H "${TOKEN}"` });
  });
});
