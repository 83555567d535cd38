import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import { ada, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { step } from '../../node/step.ts';
import { child, waitFor } from '../../node/waitFor.ts';

/** A word that the engine does not use. */
const NAME = 'Quendelina';

/** Texts too large for a row, and hard to compress. */
const letter = (size: number): string =>
  Array.from({ length: size }, (_, at) => `${NAME}${Math.sin(at).toString(36).slice(3)}`).join(' ');

function hits(path: string): number {
  const files = [path, `${path}-wal`].filter(existsSync);
  return files.reduce((sum, file) => sum + readFileSync(file).toString('latin1').split(NAME).length - 1, 0);
}

function open(db: Database) {
  const inner = durable(
    twoSteps(() => ({ log: [`for ${NAME}`] })),
    { db },
  );
  const first = async () => {
    await step('call', async ({ onActivity }) => {
      onActivity({ kind: 'thought', text: `I think of ${NAME}` });
      onActivity({ kind: 'text', text: letter(300) });
      return { mail: letter(2000), to: NAME };
    });
    const word = JSON.stringify(await waitFor<string>('word'));
    const { values } = await child(inner, `child-of-${/Quendelina (\w+)/.exec(word)?.[1]}`, {
      log: [`${NAME}'s child`],
    });
    return { log: [letter(5), JSON.stringify(values)], answer: letter(3000) };
  };
  const second = async ({ log }: { readonly log: readonly string[] }) => {
    if (log.length > 99) throw new Error(`no room for ${NAME}`);
    return { log: [`sent to ${NAME}`] };
  };
  return durable(twoSteps(first, second), { db, gates: { second: ({ log }) => ({ to: NAME, log }) } });
}

type App = ReturnType<typeof open>;

/** A run that has a name everywhere a run can have a text. */
async function personal(app: App, id: string, log: readonly string[] = []): Promise<void> {
  const about = { metadata: { user: NAME }, tags: [`of ${NAME}`], configurable: { user: NAME } };
  await app.run(id, { log: [NAME, letter(500), ...log] }, about);
  await app.signal(id, 'word', `${NAME} ${id}`, { by: ada, signalId: id });
  const asked = await app.run(id);
  expect([asked.status, asked.reason]).toEqual(['waiting', null]);
  const { gates } = asked;
  await app.decide(only(gates), {
    approved: false,
    feedback: `${NAME} would not say that of ${id}`,
    by: ada,
  });
  const again = await app.run(id);
  if (again.gates.length > 0)
    await app.decide(only(again.gates), { approved: true, feedback: NAME, by: ada });
  await app.run(id);
  for await (const _ of app.stream(id, null));
}

/** Another process that reads, in one transaction, until its input ends. */
async function readingProcess(path: string) {
  const program = `
    import { createRequire } from 'node:module';
    const Database = createRequire(process.argv[2])('better-sqlite3');
    const db = new Database(process.argv[1], { readonly: true });
    db.exec('BEGIN'); db.prepare('SELECT count(*) FROM threads').get();
    console.log('reads'); process.stdin.resume(); process.stdin.on('end', () => process.exit());`;
  const argv = ['--input-type=module', '-e', program, path, import.meta.url];
  const reader = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(reader.stdout, 'data');
  return async () => {
    reader.stdin.end();
    await once(reader, 'exit');
  };
}

describe('what is deleted', () => {
  test('is in neither the file nor its log: no text of it', async ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    const app = open(db);
    for (const id of ['a', 'b', 'ccc']) await personal(app, id, id === 'b' ? Array(100).fill(NAME) : []);
    await app.create('never', { metadata: { user: NAME } });
    await app.signal('never', 'word', NAME, { by: ada, signalId: 'n' });
    await app.cancel('never');
    expect(hits(dbPath)).toBeGreaterThan(500);
    const blobs = db.prepare<[], Buffer>('SELECT substr(bytes, 1, 48) FROM state_blobs').pluck().all();
    expect(blobs.length).toBeGreaterThan(3);
    for (const { id, status } of (await app.list({ limit: 100 })).runs) {
      if (status === 'waiting') await app.cancel(id);
    }
    expect((await app.list({ idPrefix: 'b' })).runs[0]?.reason).toContain(NAME);
    await app.prune('a', { keepLast: 1 });
    for (const id of ['a', 'b', 'ccc', 'never']) await app.delete(id, { by: ada });
    expect((await app.list()).runs).toEqual([]);
    expect(hits(dbPath)).toBe(0);
    const bytes = readFileSync(dbPath);
    expect(blobs.filter((blob) => bytes.includes(blob))).toEqual([]);
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
    db.close();
    expect(hits(dbPath)).toBe(0);
  });

  test('of a run leaves the others as they are', async ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    const app = open(db);
    await personal(app, 'a');
    await app.run('other', { log: ['kept'] });
    const before = await app.values('other');
    await app.deleteOlderThan({ endedBefore: new Date(Date.now() + 1), by: ada });
    expect(hits(dbPath)).toBe((await app.get('a')) === null ? hits(dbPath) : -1);
    expect(await app.values('other')).toEqual(before);
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
    db.close();
  });

  test('stays in the log while another process reads: STATE_BUSY, to be called again', async ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    const app = open(db);
    await personal(app, 'a');
    const end = await readingProcess(dbPath);
    await expect(app.delete('a', { by: ada, waitMs: 50 })).rejects.toMatchObject({ code: 'STATE_BUSY' });
    expect(await app.get('a')).toBeNull();
    expect(hits(dbPath)).toBeGreaterThan(0);
    const waits = app.delete('a', { by: ada });
    await end();
    expect(await waits).toEqual({ runs: 0, bytes: 0 });
    expect(hits(dbPath)).toBe(0);
    await expect(app.delete('nobody', { by: ada })).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    await expect(app.delete('a', { by: ada, waitMs: -1 })).rejects.toThrow(RangeError);
    db.close();
  });
});

describe('a file that is compacted', () => {
  test('gives its free pages back, and forgets what an earlier release deleted', async ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    db.pragma('secure_delete = OFF');
    const app = open(db);
    await personal(app, 'a');
    await app.delete('a', { by: ada });
    expect(hits(dbPath)).toBeGreaterThan(100);
    db.exec('INSERT INTO file_residue VALUES (1)'); // as the migration does
    const before = readFileSync(dbPath).length;
    const { done, freedBytes, fileBytes } = await app.compact({ maxMs: 60_000 });
    expect({ done, fileBytes }).toEqual({ done: true, fileBytes: readFileSync(dbPath).length });
    expect(freedBytes).toBe(before - fileBytes);
    expect(hits(dbPath)).toBe(0);
    expect(db.prepare('SELECT count(*) FROM file_residue').pluck().get()).toBe(0);
    expect(await app.compact()).toEqual({ done: true, freedBytes: 0, fileBytes });
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
    db.close();
  });

  test('is left as it is where the time is too short, and says how long it takes', async ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    const app = open(db);
    await personal(app, 'a');
    await app.delete('a', { by: ada });
    const result = await app.compact({ maxMs: 0.001 });
    expect(result).toMatchObject({ done: false, freedBytes: 0, needsMs: expect.any(Number) });
    expect(await app.compact({ maxMs: (result.needsMs ?? 0) + 60_000 })).toMatchObject({ done: true });
    await expect(app.compact({ maxMs: 0 })).rejects.toThrow(RangeError);
    await expect(app.compact({ waitMs: Number.NaN })).rejects.toThrow(RangeError);
    db.close();
  });

  test('gives pages back a few at a time, once it may: the next call goes on', async ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    db.pragma('auto_vacuum = INCREMENTAL');
    db.exec('VACUUM');
    const app = open(db);
    for (const id of ['a', 'bb']) await personal(app, id, [letter(30_000)]);
    await app.delete('a', { by: ada });
    await app.delete('bb', { by: ada });
    const calls: boolean[] = [];
    while (calls.at(-1) !== true) calls.push((await app.compact({ maxMs: 0.5 })).done);
    expect(calls.length).toBeGreaterThan(1);
    expect(db.pragma('freelist_count', { simple: true })).toBe(0);
    expect(hits(dbPath)).toBe(0);
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
    db.close();
  });

  test('waits for who writes, and says so after a bound', async ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    const app = open(db);
    await personal(app, 'a');
    await app.delete('a', { by: ada });
    const other = createDatabase({ dbPath });
    other.exec('BEGIN IMMEDIATE');
    await expect(app.compact({ maxMs: 60_000, waitMs: 30 })).rejects.toMatchObject({ code: 'STATE_BUSY' });
    other.exec('COMMIT');
    other.close();
    expect(await app.compact({ maxMs: 60_000 })).toMatchObject({ done: true });
    db.close();
  });
});
