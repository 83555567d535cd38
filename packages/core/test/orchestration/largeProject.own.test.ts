import { describe, expect } from 'vitest';
import { loadOrchestratorConfig } from '../../src/config/orchestratorConfig.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { EventBus } from '../../src/events/events.ts';
import { aChain, anEpic, aState } from '../../src/orchestration/__tests__/aState.ts';
import { orchestrationApp } from '../../src/orchestration/graph.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';

// Source: 9_ROADMAP-RISK-401. Length is not limited: only what makes no progress stops.

/** Tasks of the project, a multiple of 4. */
const TASKS = howMany('DEVS_PROJECT_TASKS', 120);

const ada = { kind: 'human', id: 'ada' } as const;

/** Bytes held after a collection. */
function held(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe(`a project of ${TASKS} tasks without agents`, () => {
  test('completes under the default limit with two human gates in all, in memory that does not grow with it', {
    timeout: 60_000 + TASKS * 2_000,
  }, async ({ db }) => {
    const events = new EventBus();
    const heldAt = new Map<number, number>();
    let completed = 0;
    events.on('TASK_COMPLETED', () => {
      completed += 1;
      if (completed === TASKS / 4 || completed === TASKS) heldAt.set(completed, held());
    });
    const app = orchestrationApp(null, { db, events, config: loadOrchestratorConfig({}) });
    const input = aState({ epics: [anEpic(1)], tasks: aChain(TASKS) });
    await internalsOf(app).recordRun({ threadId: 'shop', input });

    const gates: string[] = [];
    let now = await internalsOf(app).drive('shop');
    while (now.status === 'waiting') {
      for (const gate of now.gates) {
        gates.push(gate.kind);
        await app.decide(gate, { approved: true, by: ada });
      }
      now = await internalsOf(app).drive('shop');
    }

    expect(now.status).toBe('completed');
    expect(now.values?.tasks.filter(({ status }) => status === 'completed')).toHaveLength(TASKS);
    expect(gates).toEqual(['design_approval', 'dag_approval']);
    expect(db.prepare<[], number>('SELECT count(*) FROM hitl_sessions').pluck().get()).toBe(2);
    const [quarter = 0, end = 0] = heldAt.values();
    expect(end / quarter).toBeLessThanOrEqual(1.2);
  });
});
