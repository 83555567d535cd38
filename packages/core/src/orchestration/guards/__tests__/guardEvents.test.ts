import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { EventStore } from '../../../state/EventStore.ts';
import { ada, circle, repeating, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../durable.ts';

const guardEvents = (db: Database, run: string) =>
  new EventStore(db)
    .list(run)
    .filter(({ name }) => name.startsWith('GUARD_'))
    .map(({ name, payload }) => {
      const { measure, level } = payload as { measure: string; level: number };
      return `${name} ${measure} ${level}`;
    });

describe('the events of guards', () => {
  test('warn of depth once per episode, trip once, and start anew after a grant', async ({ db }) => {
    const app = durable(circle(), { db, guards: { maxDepth: 10 } });
    const { gates } = await app.run('run', {});
    expect(guardEvents(db, 'run')).toEqual(['GUARD_WARNED depth 8', 'GUARD_TRIPPED depth 10']);
    for (const gate of gates) app.decide(gate, { action: 'continue', by: ada });
    await app.run('run');
    expect(guardEvents(db, 'run').slice(2)).toEqual(['GUARD_WARNED depth 8', 'GUARD_TRIPPED depth 10']);
  });

  test('say so when the failure gate asks first where depth would have asked too', async ({ db }) => {
    const stuck = twoSteps(() => repeating({ log: ['stuck'] }, 0.9));
    const app = durable(stuck, { db, guards: { maxDepth: 1 } });
    const first = await app.run('run', {});
    for (const gate of first.gates) app.decide(gate, { action: 'continue', by: ada });
    const { gates } = await app.run('run');
    expect(gates.map(({ kind }) => kind)).toEqual(['task_failure']);
    await app.run('run');
    expect(guardEvents(db, 'run')).toEqual([
      'GUARD_TRIPPED depth 1',
      'GUARD_TRIPPED entropy 0.9',
      'GUARD_SUPPRESSED depth 1',
    ]);
  });
});
