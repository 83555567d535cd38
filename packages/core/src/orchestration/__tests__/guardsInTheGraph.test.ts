import { existsSync } from 'node:fs';
import path from 'node:path';
import { Command, isInterrupted } from '@langchain/langgraph';
import { describe, expect, onTestFinished, test as plainTest, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { CHECKPOINT_WINDOW, MAX_RECURSION_DEPTH } from '../../config/defaults.ts';
import * as config from '../../config/orchestratorConfig.ts';
import { EventBus } from '../../events/events.ts';
import { EventStore } from '../../state/events/EventStore.ts';
import { Orchestrator } from '../../surface/Orchestrator.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { OrchestrationGraph } from '../graph.ts';
import { HumanInTheLoopManager } from '../hitl.ts';
import { aState } from './aState.ts';

// How the recursion guard acts in the pipeline itself. Source: 9_ROADMAP-RISK-401.

const LIMIT = 5;
const SHOP = OrchestrationGraph.configForProject('shop');

/** The pipeline on one task whose checks stay red: after the two gates nothing is progress any more. */
function aCycle(db: Parameters<typeof OrchestrationGraph.withSqlitePersistence>[0]) {
  const events = new EventBus();
  const heard: unknown[] = [];
  const nodes: string[] = [];
  events.onAny((name, payload) => {
    if (name.startsWith('RECURSION_')) heard.push([name, payload]);
  });
  events.on('NODE_STARTED', ({ node }) => nodes.push(node));
  const pipeline = {
    agents: fakeAgents({ tasks: 1 }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks([false]),
    now: () => 0,
  };
  const { graph } = OrchestrationGraph.withSqlitePersistence(db, {
    pipeline,
    events,
    config: { maxRecursionDepth: LIMIT, hitlEntropyThreshold: 0.75 },
  });
  const run = async (): Promise<unknown> => {
    await graph.invoke(aState(), SHOP);
    await graph.invoke(new Command({ resume: { approved: true } }), SHOP);
    return graph.invoke(new Command({ resume: { approved: true } }), SHOP);
  };
  return { run, heard, nodes };
}

describe('OrchestrationGraph', () => {
  test('warns at 80 % and goes on, then stops at the limit and notifies the human in the loop', async ({
    db,
  }) => {
    const { run, heard, nodes } = aCycle(db);
    expect(isInterrupted(await run())).toBe(true);
    expect(heard).toEqual([
      ['RECURSION_DEPTH_WARNING', { depth: LIMIT - 1, limit: LIMIT }],
      ['RECURSION_LIMIT_REACHED', { depth: LIMIT, limit: LIMIT }],
    ]);
    expect(nodes.slice(nodes.indexOf('implement'))).toEqual(['implement', 'verify', 'implement', 'verify']);
    expect(new HumanInTheLoopManager(db).listPendingSessions()).toMatchObject([
      { kind: 'recursion_limit', evidence: { depth: LIMIT, limit: LIMIT } },
    ]);
  });

  test('logs the warning: it is a row of the event log', async ({ db }) => {
    await aCycle(db).run();
    const warnings = new EventStore(db)
      .list('shop')
      .filter(({ name }) => name === 'RECURSION_DEPTH_WARNING')
      .map(({ payload }) => payload);
    expect(warnings).toEqual([{ depth: LIMIT - 1, limit: LIMIT }]);
  });
});

describe('the limits', () => {
  plainTest('are 25 transitions and five checkpoints, by the names of the configuration', () => {
    expect([MAX_RECURSION_DEPTH, config.MAX_RECURSION_DEPTH, CHECKPOINT_WINDOW]).toEqual([25, 25, 5]);
  });

  test.for(['4', '101', '7.5', 'deep'])(
    'stop the start when the environment asks for a depth of %s, before a file is made',
    async (depth, { dbPath }) => {
      vi.stubEnv('DEVS_MAX_RECURSION_DEPTH', depth);
      onTestFinished(() => void vi.unstubAllEnvs());
      const dir = path.join(path.dirname(dbPath), '.devs');
      await expect(Orchestrator.open({ dir })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
      expect(existsSync(dir)).toBe(false);
      expect(() => new OrchestrationGraph()).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
      const asOption = { config: { maxRecursionDepth: Number(depth), hitlEntropyThreshold: 0.75 } };
      expect(() => new OrchestrationGraph(undefined, asOption)).toThrow(RangeError);
      await expect(Orchestrator.open({ dir, ...asOption })).rejects.toThrow(RangeError);
      expect(existsSync(dir)).toBe(false);
    },
  );
});
