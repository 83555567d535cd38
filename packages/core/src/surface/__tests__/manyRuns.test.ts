import path from 'node:path';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { countReads, type Reads } from '../../../test/support/countedReads.ts';
import { test } from '../../../test/support/fixtures.ts';
import { STATE_FILE } from '../../config/defaults.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { aQuestion } from '../../state/__tests__/aQuestion.ts';
import { aThread } from '../../state/__tests__/aThread.ts';
import { HitlSessionStore } from '../../state/gates/HitlSessionStore.ts';
import { ThreadStore } from '../../state/threads/ThreadStore.ts';
import { hashOf } from '../../values/canonicalJson.ts';
import { Orchestrator, type RunListPage } from '../Orchestrator.ts';

const SHOWN = { documents: [] };

/** Runs that have ended, each with a gate that was asked again, and on top of them two that wait; `w-2` at two gates. */
function manyRuns(db: Database, ended: number): void {
  let clock = 0;
  const now = (): number => ++clock;
  const threads = new ThreadStore(db, { now });
  let gates = 0;
  const sessions = new HitlSessionStore(db, { now, newId: () => `gate-${String(++gates).padStart(4, '0')}` });
  const ask = (threadId: string, interruptId: string): void => {
    const question = { message: 'Approve?', artifact: SHOWN };
    const asked = { threadId, interruptId, questionKey: interruptId, question, artifactHash: hashOf(SHOWN) };
    sessions.openForInterrupt(aQuestion(asked));
  };
  db.transaction(() => {
    for (let n = 1; n <= ended; n += 1) {
      const threadId = `e-${n}`;
      threads.create(aThread({ threadId }));
      ask(threadId, 'i');
      sessions.supersedeOpen(threadId);
      db.prepare("UPDATE threads SET status = 'completed' WHERE thread_id = ?").run(threadId);
    }
    threads.create(aThread({ threadId: 'w-1' }));
    threads.create(aThread({ threadId: 'w-2' }));
    for (const [run, place] of [
      ['w-2', 'a'],
      ['w-1', 'b'],
      ['w-2', 'c'],
    ] as const)
      ask(run, place);
  }).immediate();
}

async function readsOf(
  dir: string,
  ended: number,
  look: (devs: Orchestrator) => Promise<unknown>,
): Promise<Reads> {
  const db = createDatabase({ dbPath: path.join(dir, STATE_FILE) });
  manyRuns(db, ended);
  db.close();
  const counter = countReads();
  const devs = await Orchestrator.open({ dir });
  counter.take();
  try {
    await look(devs);
    return counter.take();
  } finally {
    counter.stop();
    devs.close();
  }
}

const LOOKS: Readonly<Record<string, (devs: Orchestrator) => Promise<unknown>>> = {
  'the gates of all runs': (devs) => devs.gates(),
  'a gate by the beginning of its id': (devs) => devs.gatesNamed('gate-0002'),
  'a page of runs': (devs) => devs.list({ limit: 2 }),
  'the next page of runs': (devs) => devs.list({ limit: 2, after: 'w-2' }),
  'a page of the runs that stand somewhere': (devs) => devs.list({ limit: 2, status: ['created', 'failed'] }),
  'a page of the gates of all runs': (devs) => devs.openGates({ limit: 2 }),
  'the gates of a run': async (devs) => (await devs.run('w-2')).gates(),
};

describe('in a file of many runs', () => {
  test.for(Object.keys(LOOKS))('%s: no more is read than in a file of few', async (name, { dbPath }) => {
    const look = LOOKS[name] ?? expect.fail(name);
    const few = await readsOf(path.join(path.dirname(dbPath), 'few'), 4, look);
    const many = await readsOf(path.join(path.dirname(dbPath), 'many'), 200, look);
    expect(many).toEqual(few);
    expect(few.rows).toBeGreaterThan(0);
  });

  test('runs and gates come in the order of the whole list', async ({ dbPath }) => {
    const dir = path.dirname(dbPath);
    await readsOf(dir, 5, async (devs) => {
      const all = (await devs.list()).map(({ id }) => id);
      expect(all).toEqual(['w-2', 'w-1', 'e-5', 'e-4', 'e-3', 'e-2', 'e-1']);
      expect(await devs.ids()).toEqual(all);
      const paged = [...(await devs.list({ limit: 4 })), ...(await devs.list({ limit: 4, after: 'e-4' }))];
      expect(paged.map(({ id }) => id)).toEqual(all);
      expect(await devs.list({ after: 'e-1' })).toEqual([]);
      expect(await devs.gates()).toEqual((await devs.list()).flatMap(({ gates }) => gates));
      expect((await devs.gates()).map(({ sessionId }) => sessionId)).toEqual([
        'gate-0006',
        'gate-0008',
        'gate-0007',
      ]);
      await expect(devs.list({ limit: 0 })).rejects.toThrow(RangeError);
      await expect(devs.list({ after: 'nobody' })).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    });
  });

  test('a page has the runs that stand somewhere, or the gates that wait longest and how many there are', async ({
    dbPath,
  }) => {
    await readsOf(path.dirname(dbPath), 3, async (devs) => {
      const ids = async (page: RunListPage) => (await devs.list(page)).map(({ id }) => id);
      expect(await ids({ status: 'created' })).toEqual(['w-2', 'w-1']);
      expect(await ids({ status: ['completed', 'failed'], limit: 2 })).toEqual(['e-3', 'e-2']);
      expect(await ids({ status: 'completed', after: 'e-2' })).toEqual(['e-1']);
      expect(await ids({ status: [] })).toEqual([]);
      await expect(devs.list({ status: 'asleep' as never })).rejects.toThrow(RangeError);

      const first = await devs.openGates({ limit: 2 });
      expect([first.total, first.gates.map(({ threadId }) => threadId)]).toEqual([3, ['w-2', 'w-1']]);
      expect(await devs.openGates({ limit: 2, after: first.next ?? '' })).toMatchObject({
        total: 3,
        next: null,
        gates: [{ threadId: 'w-2' }],
      });
    });
  });

  test('a gate is named by the beginning of its id, open or closed', async ({ dbPath }) => {
    await readsOf(path.dirname(dbPath), 2, async (devs) => {
      const named = await devs.gatesNamed('gate-000');
      expect(named.map((gate) => [gate.sessionId, 'status' in gate ? gate.status : null])).toEqual([
        ['gate-0003', null],
        ['gate-0005', null],
        ['gate-0004', null],
        ['gate-0002', 'superseded'],
        ['gate-0001', 'superseded'],
      ]);
      expect(await devs.gatesNamed('gate-0001x')).toEqual([]);
    });
  });
});
