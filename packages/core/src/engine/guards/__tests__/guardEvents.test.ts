import { randomUUID } from 'node:crypto';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { EventBus } from '../../../events/events.ts';
import { EventStore } from '../../../state/events/EventStore.ts';
import { ada, circle, repeating, twoSteps } from '../../__tests__/ownGraph.ts';
import { EngineFaults } from '../../execution/EngineFaults.ts';
import { nodeExecutionOf } from '../../execution/nodeExecution.ts';
import { EngineStore } from '../../gates/EngineStore.ts';
import { type GraphProfile, ownGraphProfile } from '../../graph/NodeEngine.ts';
import { recordFailure } from '../../node/runNode.ts';

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
    for (const gate of gates) await app.decide(gate, { action: 'continue', by: ada });
    await app.run('run');
    expect(guardEvents(db, 'run').slice(2)).toEqual(['GUARD_WARNED depth 8', 'GUARD_TRIPPED depth 10']);
  });

  test('say so when the failure gate asks first where depth would have asked too', async ({ db }) => {
    const stuck = twoSteps(() => repeating({ log: ['stuck'] }, 0.9));
    const app = durable(stuck, { db, guards: { maxDepth: 1 } });
    const first = await app.run('run', {});
    for (const gate of first.gates) await app.decide(gate, { action: 'continue', by: ada });
    const { gates } = await app.run('run');
    expect(gates.map(({ kind }) => kind)).toEqual(['task_failure']);
    await app.run('run');
    expect(guardEvents(db, 'run')).toEqual([
      'GUARD_TRIPPED depth 1',
      'GUARD_TRIPPED entropy 0.9',
      'GUARD_SUPPRESSED depth 1',
    ]);
  });

  test('say once that the attempts of a visit are used up, however often it runs again', ({ db }) => {
    const events = new EventBus();
    const store = new EngineStore(db, { events });
    const profile: GraphProfile<object> = {
      ...ownGraphProfile(),
      willRetry: (_error, attempt) => attempt < 3,
    };
    const faults = new EngineFaults();
    const deps = {
      runs: store.runs,
      store,
      events,
      profile,
      maxDepth: 25,
      faults,
      now: Date.now,
      newId: randomUUID,
    };
    for (const attempt of [1, 2, 3, 1, 2, 3]) {
      const executionInfo = { taskId: 'visit-1', nodeAttempt: attempt };
      const config = {
        configurable: { thread_id: 'run' },
        executionInfo,
      } as unknown as LangGraphRunnableConfig;
      recordFailure(new Error('no connection'), nodeExecutionOf('design', config), deps);
    }
    expect(guardEvents(db, 'run')).toEqual(['GUARD_TRIPPED attempts 3']);
  });
});
