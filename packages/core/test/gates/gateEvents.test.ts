import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import type { GateEventOptions } from '../../src/engine/runs/gateEvents.ts';
import { GATE_EVENTS } from '../../src/events/events.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { programFile } from '../support/programFile.ts';
import { remindedGraph } from './remindedGraph.ts';

const child = new URL('gateEvents.child.ts', import.meta.url);
const ada = { kind: 'human', id: 'ada' } as const;

const reminding = (db: Database, now = Date.now) =>
  durable(remindedGraph(), {
    db,
    now,
    gates: { publish: { show: () => 'a post', deadlines: { within: 1000, do: 'remind' } } },
  });

async function read(app: ReturnType<typeof reminding>, options: GateEventOptions = {}) {
  const events = [];
  for await (const event of app.gateEvents({ wait: false, ...options })) events.push(event);
  return events;
}

const names = (events: Awaited<ReturnType<typeof read>>) =>
  events.map(({ threadId, name }) => [threadId, name]);

describe('events about gates', () => {
  test('that nobody heard, because the process was killed as it told them, are read again', ({ dbPath }) => {
    return (async () => {
      const died = spawnSync(process.execPath, [programFile(child), dbPath, 'post'], { encoding: 'utf8' });
      expect(died.signal, died.stderr).toBe('SIGKILL');
      const db = createDatabase({ dbPath });
      const events = await read(reminding(db));
      expect(names(events)).toEqual([
        ['post', 'HITL_SESSION_OPENED'],
        ['post', 'GATE_REMINDED'],
      ]);
      // Who was killed before the cursor was stored is given the same again, and who has stored it, nothing.
      expect(await read(reminding(db), { after: events[0]?.cursor })).toEqual([events[1]]);
      expect(await read(reminding(db), { after: events[1]?.cursor })).toEqual([]);
      db.close();
    })();
  });

  test('are those of all runs; a run that is deleted takes its own along, and no cursor is given out again', async ({
    db,
  }) => {
    let at = Date.now();
    const app = reminding(db, () => at);
    for (const id of ['a', 'b']) await app.run(id, {});
    at += 1000;
    await app.runDue();
    const all = await read(app);
    expect(names(all)).toEqual([
      ['a', 'HITL_SESSION_OPENED'],
      ['b', 'HITL_SESSION_OPENED'],
      ['a', 'GATE_REMINDED'],
      ['b', 'GATE_REMINDED'],
    ]);
    const last = all.at(-1)?.cursor ?? '';
    await app.cancel('b');
    await app.delete('b', { by: ada });
    expect(names(await read(app))).toEqual([
      ['a', 'HITL_SESSION_OPENED'],
      ['a', 'GATE_REMINDED'],
    ]);
    expect(await read(app, { after: last })).toEqual([]);
    await app.run('c', {});
    expect(names(await read(app, { after: last }))).toEqual([['c', 'HITL_SESSION_OPENED']]);
  });

  test('of a transaction that is rolled back are not read', async ({ db }) => {
    const app = reminding(db);
    const { gates } = await app.run('a', {});
    const { cursor } = only(await read(app));
    db.exec(
      "CREATE TEMP TRIGGER refused BEFORE UPDATE ON hitl_sessions BEGIN SELECT raise(ABORT, 'no'); END",
    );
    await expect(app.decide(only(gates), { approved: true, by: ada })).rejects.toThrow();
    db.exec('DROP TRIGGER refused');
    expect(await read(app, { after: cursor })).toEqual([]);
  });

  test('are waited for, and more than a page of them', async ({ db, dbPath }) => {
    const app = reminding(db);
    for (let run = 0; run < 120; run += 1) await app.start(`r${run}`, {});
    const second = createDatabase({ dbPath });
    const stop = new AbortController();
    const heard = read(reminding(second), { wait: true, signal: stop.signal });
    for (let run = 0; run < 120; run += 1) await app.run(`r${run}`);
    while ((await read(app)).length < 120) await app.runDue();
    setTimeout(() => stop.abort(), 700);
    expect(new Set((await heard).map(({ threadId }) => threadId)).size).toBe(120);
    second.close();
  });

  test('are found by their place: no other event is looked at', ({ db }) => {
    const plan = db
      .prepare<[number], { detail: string }>(
        `EXPLAIN QUERY PLAN SELECT g.position FROM gate_events AS g JOIN events AS e ON e.seq = g.seq
         WHERE g.position > ? ORDER BY g.position LIMIT 100`,
      )
      .all(0)
      .map(({ detail }) => detail);
    expect(plan).toEqual([
      'SEARCH g USING INTEGER PRIMARY KEY (rowid>?)',
      'SEARCH e USING INTEGER PRIMARY KEY (rowid=?)',
    ]);
    expect(GATE_EVENTS).toContain('GATE_REMINDED');
  });

  test('are refused of a file that is gone', async ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    const app = reminding(db);
    rmSync(dbPath);
    await expect(read(app)).rejects.toMatchObject({ code: 'STATE_REPLACED' });
    db.close();
  });
});
