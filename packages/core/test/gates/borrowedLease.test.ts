import { Command, getConfig, interrupt } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { ada, says, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { everyTable } from '../../src/orchestration/__tests__/everyTable.ts';
import type { Lease } from '../../src/state/threads/threadRecords.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';
import { notThroughRuns } from '../support/runs/where.ts';

const APPROVED = { approved: true };

function gated(db: Database, onFirst: () => unknown = () => {}) {
  const ran: string[] = [];
  const first = async () => {
    await onFirst();
    return { log: ['first'] };
  };
  const second = () => {
    ran.push('second');
    return { log: ['second'] };
  };
  return { app: durable(twoSteps(first, second), { db, gates: { second: ({ log }) => log } }), ran };
}

type Configurable = Readonly<Record<string, unknown>>;

/** What a stranger in the process may know: everything that is in the file. */
const epochOf = (db: Database, id: string): number =>
  db.prepare<[string], number>('SELECT lease_epoch FROM threads WHERE thread_id = ?').pluck().get(id) ?? -1;

const leaseKnownFrom = (db: Database, id: string): Configurable => {
  const row = db.prepare<[string], Lease>(
    'SELECT thread_id AS threadId, lease_owner AS owner, lease_epoch AS epoch FROM threads WHERE thread_id = ?',
  );
  return { lease_thread_id: id, lease_epoch: epochOf(db, id), lease: row.get(id) };
};

describe('a lease that is known, not held', notThroughRuns('calls the graph'), () => {
  const approve = ({ interruptId }: { readonly interruptId: string }, key: string) =>
    new Command({ resume: { [interruptId]: { for: key, value: APPROVED } } });

  test.for([
    ['the epoch of a run that waits', (db: Database) => ({ lease_epoch: epochOf(db, 'run') })],
    ['a copy of its lease', (db: Database) => leaseKnownFrom(db, 'run')],
  ] as const)('%s opens no gate', async ([_name, known], { db }) => {
    const { app, ran } = gated(db);
    const gate = only((await app.run('run', {})).gates);
    const { interruptId, questionKey } = internalsOf(app).store.sessions.require(gate.sessionId);
    const configurable = { thread_id: 'run', ...known(db) };
    const before = everyTable(db);
    const input = approve({ interruptId: interruptId ?? '' }, questionKey ?? '');
    await expect(app.graph.invoke(input as never, { configurable })).rejects.toMatchObject({
      code: 'LEASE_LOST',
    });
    await expect(
      app.graph.updateState({ configurable }, { log: ['forged'] } as never, 'first' as never),
    ).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(everyTable(db)).toBe(before);
    expect(ran).toEqual([]);
  });

  test('another app in the process writes nothing under the lease of the one that drives', async ({ db }) => {
    const tried: unknown[] = [];
    const intruder = gated(db);
    const { app } = gated(db, async () => {
      const configurable = { thread_id: 'run', ...leaseKnownFrom(db, 'run') };
      const forged = leaseKnownFrom(db, 'run')['lease'] as Lease;
      const attempts: (() => unknown)[] = [
        () => intruder.app.graph.updateState({ configurable }, { log: ['forged'] } as never),
        () => internalsOf(intruder.app).store.threads.settle(forged, 'completed', { seenWakeSeq: 99 }),
        () => internalsOf(intruder.app).store.threads.begin(forged),
        () => internalsOf(intruder.app).store.threads.renew(forged),
      ];
      for (const attempt of attempts) {
        tried.push(
          await Promise.resolve()
            .then(attempt)
            .catch((error: { code?: string }) => error.code),
        );
      }
      internalsOf(intruder.app).store.threads.release(forged);
    });
    expect(await app.run('run', {})).toMatchObject({ status: 'waiting', values: { log: ['first'] } });
    expect(tried).toEqual(Array.from({ length: 4 }, () => 'LEASE_LOST'));
  });

  test.for(['other', 'mine/other'])(
    'a lease that is held is for its own run, not for "%s"',
    async (other, { db }) => {
      const { app } = gated(db);
      await app.run(other, {});
      let stolen: Configurable = {};
      let refused: unknown = null;
      const both = durable(
        twoSteps(
          () => {
            const { lease, lease_epoch, lease_thread_id } = getConfig().configurable ?? {};
            stolen = { lease, lease_epoch, lease_thread_id };
            return {};
          },
          async () => {
            const configurable = { ...stolen, thread_id: other };
            refused = await app.graph
              .updateState({ configurable }, { log: ['forged'] } as never, 'first' as never)
              .catch((error: { code?: string }) => error.code);
            return {};
          },
        ),
        { db },
      );
      await both.run('mine', {});
      expect(stolen['lease']).toBeDefined();
      expect(refused).toBe('LEASE_LOST');
      // Given back, it is nobody's.
      const configurable = { ...stolen, thread_id: 'mine' };
      await expect(
        both.graph.updateState({ configurable }, { log: ['late'] } as never, 'second' as never),
      ).rejects.toMatchObject({ code: 'LEASE_LOST' });
    },
  );
});

test('a principal is read once, before it is checked, and what is checked is what is recorded', async ({
  db,
}) => {
  const principals = [
    () => {
      let reads = 0;
      return {
        id: 'ada',
        get kind() {
          reads += 1;
          return reads === 1 ? 'human' : 'agent';
        },
      };
    },
    () => {
      const ids = ['ada', 'eve'];
      const get = (target: typeof ada, name: string | symbol): unknown =>
        name === 'id' ? ids.shift() : Reflect.get(target, name);
      return new Proxy(ada, { get });
    },
  ];
  for (const [at, principal] of principals.entries()) {
    const { app } = gated(db);
    const gate = only((await app.run(`run ${at}`, {})).gates);
    const decided = await app.decide(gate, { ...APPROVED, by: principal() as typeof ada });
    expect(decided.principal).toEqual({ kind: 'human', id: 'ada' });
    expect(await app.run(`run ${at}`)).toMatchObject({ status: 'completed' });
  }
});

describe('a value that looks like a question of the engine', () => {
  const lookalikes: readonly object[] = [
    { kind: 'node_gate', key: 'node_gate/x', artifactHash: 'f'.repeat(64), artifact: 'harmless' },
    { kind: 'node_gate', key: 'k', artifactHash: '' },
    { kind: 'task_failure', key: 'k', artifactHash: 'z', taskId: 7, message: null },
    { kind: 'budget', key: 'k', artifactHash: 'z', artifact: { limits: 'none' } },
    { kind: 'recursion_limit', key: 'k', artifactHash: 'z', endsOnRejection: true },
    { recurse: true, key: 'run/x/0', count: null },
  ];

  test.for(lookalikes)('is an ordinary interrupt: %j', async (shown, { db }) => {
    const app = durable(
      twoSteps(() => ({ answer: interrupt(shown) }), says('last')),
      { db },
    );
    const gate = only((await app.run('run', {})).gates);
    expect(gate).toMatchObject({ kind: 'interrupt', artifact: shown });
    await expect(app.decide(gate, { ...APPROVED, by: ada })).rejects.toMatchObject({
      code: 'INVALID_ANSWER',
    });
    await app.decide(gate, { value: { action: 'abort' }, by: ada });
    expect(await app.run('run')).toMatchObject({
      status: 'completed',
      values: { answer: { action: 'abort' }, log: ['last'] },
    });
  });
});

test(
  'checkpoints that no run has made are taken for none of ours',
  notThroughRuns('calls the graph'),
  async ({ db }) => {
    const { app } = gated(db);
    await app.graph.updateState(
      { configurable: { thread_id: 'raw' } },
      { log: ['past the gate'] } as never,
      'first' as never,
    );
    const before = everyTable(db);
    await expect(app.run('raw', {})).rejects.toMatchObject({ code: 'THREAD_NOT_OURS' });
    await expect(app.run('raw')).rejects.toMatchObject({ code: 'THREAD_NOT_OURS' });
    expect(everyTable(db)).toBe(before);
  },
);
