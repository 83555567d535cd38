import path from 'node:path';
import type { Database } from 'better-sqlite3';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { EventStore } from '../../state/events/EventStore.ts';
import { Orchestrator, type OrchestratorOptions } from '../../surface/Orchestrator.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import type { StageAgents } from '../ports.ts';
import { redInNewWays } from './aPipeline.ts';

// What the guards of the pipeline write, in runs of the pipeline itself.

const ada = { kind: 'human', id: 'ada' } as const;

async function driven(dbPath: string, options: Partial<OrchestratorOptions>) {
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: fakeAgents({ tasks: 1 }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
    config: { maxRecursionDepth: 100, hitlEntropyThreshold: 1 },
    ...options,
  });
  onTestFinished(() => devs.close());
  const run = await devs.start({ id: 'r', brief: '# R', gates: { design: 'auto', dag: 'auto' } });
  return { run, result: await run.resume() };
}

/** Without the score of a task, which has tests of its own. */
const storyOf = (db: Database): readonly string[] =>
  new EventStore(db)
    .list('r', { limit: 10_000 })
    .filter(({ name }) => name.startsWith('GUARD_'))
    .map(({ name, payload }) => {
      const { guard, measure, level, limit } = payload as Record<string, unknown>;
      return `${name} ${guard}: ${measure} ${level} of ${limit}`;
    })
    .filter((line) => !line.includes(' entropy '));

/** Agents whose `implement` fails. */
function failing(error: () => Error, options: Parameters<typeof fakeAgents>[0] = {}): StageAgents {
  const agents = fakeAgents({ tasks: 1, ...options });
  return { ...agents, implement: () => Promise.reject(error()) };
}

describe('the guards of the pipeline', () => {
  test('warn of turns at eight and trip at ten, where another strategy is asked for', async ({
    db,
    dbPath,
  }) => {
    const { result } = await driven(dbPath, { checks: redInNewWays() });
    expect(result.status).toBe('failed');
    expect(storyOf(db)).toEqual(
      expect.arrayContaining(['GUARD_WARNED pivot: turns 8 of 10', 'GUARD_TRIPPED pivot: turns 10 of 10']),
    );
    expect(storyOf(db).filter((line) => line.includes(' turns '))).toHaveLength(2);
  });

  test('trip at the third equal error', async ({ db, dbPath }) => {
    await driven(dbPath, {
      agents: failing(() => new TypeError('x is undefined')),
      checks: scriptedChecks([false]),
    });
    expect(storyOf(db)).toEqual(['GUARD_TRIPPED error: equal_errors 3 of 3']);
  });

  test('trip when the pivots are used up, and hand over to a human', async ({ db, dbPath }) => {
    const agents = failing(() => new TypeError('x is undefined'), { strategies: ['one', 'two'] });
    const { result } = await driven(dbPath, { agents, checks: scriptedChecks([false]) });
    expect(result.gates.map(({ kind }) => kind)).toEqual(['task_failure']);
    expect(storyOf(db)).toEqual([
      'GUARD_TRIPPED error: equal_errors 3 of 3',
      'GUARD_TRIPPED error: equal_errors 3 of 3',
      'GUARD_TRIPPED error: equal_errors 3 of 3',
      'GUARD_TRIPPED failure_gate: pivots 2 of 2',
    ]);
  });

  test('hold every task to its own budget, and raise it for the task that asked', async ({ dbPath }) => {
    const calls: string[] = [];
    const agents = fakeAgents({ tasks: 2, onCall: (what) => calls.push(what) });
    const { run, result } = await driven(dbPath, { agents, budget: { perTask: { calls: 3 } } });
    expect(only(result.gates)).toMatchObject({
      kind: 'budget',
      taskId: 'r:1',
      artifact: {
        node: 'implement',
        step: 'review',
        limits: [{ taskId: 'r:1', measure: 'calls', limit: 3 }],
      },
    });
    await run.decide(only(result.gates), { action: 'raise', calls: 1, by: ada });
    const second = await run.resume();
    expect(only(second.gates)).toMatchObject({ taskId: 'r:2', artifact: { limits: [{ limit: 3 }] } });
    await run.decide(only(second.gates), { action: 'raise', calls: 1, by: ada });
    expect(await run.resume()).toMatchObject({ status: 'completed' });
    expect(new Set(calls).size).toBe(calls.length); // nothing was paid for twice
  });
});
