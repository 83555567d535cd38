import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import { ada, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { waitFor } from '../../node/waitFor.ts';

const seen: unknown[] = [];

function open(db: Database, version = '1') {
  const first = async (_state: object, config?: { readonly metadata?: unknown; readonly tags?: unknown }) => {
    const { tenant } = (config?.metadata ?? {}) as { readonly tenant?: unknown };
    seen.push({ tenant, tags: config?.tags });
    return { log: [String((await waitFor<string>('word', { within: 1 })).timedOut)] };
  };
  const later = { ms: 0 };
  return durable(twoSteps(first), { db, version, now: () => (later.ms += 100_000) });
}

describe('a run that is created before its first input', () => {
  test('is not due, is executed by nobody, and has no values', async ({ db }) => {
    const app = open(db);
    const info = await app.create('chat', { metadata: { tenant: 'acme' }, tags: ['b', 'a', 'b'] });
    expect(info).toMatchObject({ id: 'chat', status: 'paused', reason: 'no input yet', endedAt: null });
    expect(info).toMatchObject({ metadata: { tenant: 'acme' }, tags: ['a', 'b'] });
    await app.signal('chat', 'word', 'early', { by: ada, signalId: '1' });
    expect(await app.runDue()).toEqual({ driven: [], refused: [] });
    expect((await app.list({ due: true })).runs).toEqual([]);
    expect(await app.run('chat')).toMatchObject({ status: 'paused', reason: 'no input yet', values: null });
    expect(await app.result('chat')).toMatchObject({ status: 'paused', values: null, gates: [] });
    expect(await app.get('chat')).toMatchObject({ status: 'paused', reason: 'no input yet' });
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  });

  test('begins with its first input, with the metadata and the signals that it has', async ({ db }) => {
    const app = open(db);
    await app.create('chat', { metadata: { tenant: 'acme' }, tags: ['a'] });
    await app.signal('chat', 'word', 'early', { by: ada, signalId: '1' });
    const other = open(db, '2'); // another graph
    seen.length = 0;
    expect(await other.run('chat', {})).toMatchObject({
      status: 'completed',
      values: { log: ['false', 'second'] },
    });
    expect(seen.at(-1)).toMatchObject({ tenant: 'acme', tags: expect.arrayContaining(['a']) });
    expect(await other.get('chat')).toMatchObject({ status: 'completed', metadata: { tenant: 'acme' } });
    expect(await other.run('chat', {}, { metadata: { tenant: 'acme' } })).toMatchObject({
      status: 'completed',
    });
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  });

  test('takes turns from the first on', async ({ db }) => {
    const app = open(db);
    await app.create('chat');
    await app.run('chat', { log: ['one'] }, { turn: 'm-1' });
    expect(await app.run('chat', { log: ['two'] }, { turn: 'm-2' })).toMatchObject({
      status: 'completed',
      turn: 'm-2',
    });
  });

  test('is raised or left for a second time, as LangGraph says it', async ({ db }) => {
    const app = open(db);
    await app.create('chat', { metadata: { tenant: 'acme' } });
    await expect(app.create('chat')).rejects.toMatchObject({ code: 'THREAD_EXISTS' });
    const again = await app.create('chat', { metadata: { tenant: 'bolt' }, ifExists: 'do_nothing' });
    expect(again.metadata).toEqual({ tenant: 'acme' });
    await expect(app.create('chat', { ifExists: 'replace' as never })).rejects.toThrow(TypeError);
  });

  test('refuses other metadata, no input, and an input once it was cancelled', async ({ db }) => {
    const app = open(db);
    await app.create('chat', { metadata: { tenant: 'acme' }, tags: ['a'] });
    await expect(app.run('chat', {}, { metadata: { tenant: 'bolt' } })).rejects.toMatchObject({
      code: 'INPUT_NOT_TAKEN',
    });
    await expect(app.run('chat', {}, { tags: ['b'] })).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
    await expect(app.run('chat', undefined, { tags: ['a'] })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    await app.cancel('chat');
    expect(await app.get('chat')).toMatchObject({ status: 'cancelled' });
    await expect(app.run('chat', {})).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
    await app.delete('chat', { by: ada });
    expect(await app.get('chat')).toBeNull();
    expect(db.prepare('SELECT count(*) FROM run_labels').pluck().get()).toBe(0);
  });
});
