import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { EventBus } from '../../events/events.ts';
import { immediateTransaction } from '../commits/immediateTransaction.ts';
import { EventOutbox } from '../events/EventOutbox.ts';
import { EventStore } from '../events/EventStore.ts';

const SCOPE = { threadId: 'run-1', taskId: 'run-1:1' };

describe('EventStore', () => {
  test('returns what was appended, in order, for its run only', ({ db }) => {
    const events = new EventStore(db, { now: () => 9 });
    events.append('RUN_SUSPENDED', { gates: 1 }, { threadId: 'run-1' });
    events.append('RUN_SUSPENDED', { gates: 9 }, { threadId: 'run-2' });
    events.append('TASK_FAILED', { taskId: 'run-1:1', name: 'x', final: false }, SCOPE);
    events.append('RUN_FINISHED', { outcome: 'completed' });
    expect(events.list('run-1')).toEqual([
      { seq: 1, threadId: 'run-1', at: 9, name: 'RUN_SUSPENDED', taskId: null, payload: { gates: 1 } },
      {
        seq: 3,
        ...SCOPE,
        at: 9,
        name: 'TASK_FAILED',
        payload: { taskId: 'run-1:1', name: 'x', final: false },
      },
    ]);
  });

  test('pages by position', ({ db }) => {
    const events = new EventStore(db);
    for (let gates = 1; gates <= 5; gates++) events.append('RUN_SUSPENDED', { gates }, SCOPE);
    expect(events.list('run-1', { afterSeq: 1, limit: 2 }).map(({ seq }) => seq)).toEqual([2, 3]);
    expect(events.list('run-1', { afterSeq: 5 })).toEqual([]);
  });
});

describe('EventOutbox', () => {
  function outboxOn(db: ConstructorParameters<typeof EventOutbox>[0]) {
    const bus = new EventBus();
    const heard: unknown[] = [];
    bus.onAny((name, payload) => heard.push([name, payload]));
    return { outbox: new EventOutbox(db, bus), heard };
  }

  test('publishes after commit, and only then', ({ db }) => {
    const { outbox, heard } = outboxOn(db);
    db.transaction(() => {
      outbox.record('RUN_SUSPENDED', { gates: 1 }, SCOPE);
      outbox.flush();
      expect(heard).toEqual([]);
    }).immediate();
    outbox.flush();
    outbox.flush();
    expect(heard).toEqual([['RUN_SUSPENDED', { gates: 1 }]]);
  });

  test('drops what was rolled back, also when its position is given out again', ({ db }) => {
    const { outbox, heard } = outboxOn(db);
    const failing = db.transaction(() => {
      outbox.record('RUN_SUSPENDED', { gates: 1 }, SCOPE);
      throw new Error('no');
    });
    expect(() => failing.immediate()).toThrow('no');
    outbox.record('RUN_SUSPENDED', { gates: 2 }, SCOPE);
    outbox.flush();
    expect(heard).toEqual([['RUN_SUSPENDED', { gates: 2 }]]);
    expect(new EventStore(db).list('run-1')).toHaveLength(1);
  });

  test('knows of the engine’s own transactions and their parts which are committed, and looks nothing up', ({
    db,
  }) => {
    const { outbox, heard } = outboxOn(db);
    const tell = (gates: number): void => outbox.record('RUN_SUSPENDED', { gates }, SCOPE);
    const failing = (gates: number) => () => {
      tell(gates);
      throw new Error('no');
    };
    immediateTransaction(db, () => {
      tell(1);
      expect(() => immediateTransaction(db, failing(2))).toThrow('no');
      immediateTransaction(db, () => tell(3));
    });
    expect(() => immediateTransaction(db, failing(4))).toThrow('no');
    db.exec('DELETE FROM events'); // who looked would find none
    outbox.flush();
    expect(heard).toEqual([1, 3].map((gates) => ['RUN_SUSPENDED', { gates }]));
  });

  test('publishes in order what several outboxes of one connection recorded', ({ db }) => {
    const first = outboxOn(db);
    const second = outboxOn(db);
    db.transaction(() => {
      first.outbox.record('RUN_SUSPENDED', { gates: 1 }, SCOPE);
      second.outbox.record('RUN_SUSPENDED', { gates: 2 }, SCOPE);
    }).immediate();
    second.outbox.flush();
    expect([first.heard, second.heard]).toEqual([
      [['RUN_SUSPENDED', { gates: 1 }]],
      [['RUN_SUSPENDED', { gates: 2 }]],
    ]);
  });
});
