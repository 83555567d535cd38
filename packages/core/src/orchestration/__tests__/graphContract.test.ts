import { readFileSync } from 'node:fs';
import { Command, END, MemorySaver } from '@langchain/langgraph';
import { describe, expect, expectTypeOf, test as plainTest } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import * as api from '../../index.ts';
import { CheckpointPersister } from '../../state/CheckpointPersister.ts';
import * as door from '../graph.ts';
import * as hitl from '../hitl.ts';
import { SqliteSaver } from '../SqliteSaver.ts';
import type { GraphState } from '../types.ts';
import { anEpic, aPlannedState, aState, aTask, deepFreeze } from './aState.ts';

// The names, edges and updates that others rely on, as the specification of graph.ts lists them.

const SHOP = door.OrchestrationGraph.configForProject('shop');

/** Starts the shop and answers both gates with yes. */
async function throughBothGates({ graph }: door.OrchestrationGraph, state: GraphState): Promise<void> {
  await graph.invoke(state, SHOP);
  for (let gate = 0; gate < 2; gate += 1) {
    await graph.invoke(new Command({ resume: { approved: true } }), SHOP);
  }
}

describe('the names of graph.ts', () => {
  const { researchNode, designNode, distillNode, implementNode, verifyNode } = door;
  const { routeAfterVerify, approveDesignNode, approveTaskDagNode } = door;
  const functions = {
    researchNode,
    designNode,
    distillNode,
    implementNode,
    verifyNode,
    routeAfterVerify,
    approveDesignNode,
    approveTaskDagNode,
  };

  plainTest.for(Object.entries(functions))('include %s, which the package exports too', ([name, own]) => {
    expect(own).toBeTypeOf('function');
    expect(api).toHaveProperty(name, own);
  });

  plainTest('include the class with its two static methods', () => {
    expect(new door.OrchestrationGraph()).toBeInstanceOf(api.OrchestrationGraph);
    expect(door.OrchestrationGraph.withSqlitePersistence).toBeTypeOf('function');
    expect(door.OrchestrationGraph.configForProject).toBeTypeOf('function');
  });

  plainTest('include VerifyRoute, a union of strings with every route of the table', () => {
    expectTypeOf<door.VerifyRoute>().toExtend<string>();
    expectTypeOf<'implement' | 'distill' | 'pivot_agent' | typeof END>().toExtend<door.VerifyRoute>();
    expectTypeOf(door.routeAfterVerify).toEqualTypeOf<(state: GraphState) => door.VerifyRoute>();
    expect([END, door.routeAfterVerify(aState())]).toEqual(['__end__', '__end__']);
  });

  plainTest('share the gate nodes with hitl.ts, where they live', () => {
    expect(door.approveDesignNode).toBe(hitl.approveDesignNode);
    expect(door.approveTaskDagNode).toBe(hitl.approveTaskDagNode);
  });

  plainTest('hitl.ts has the types of what it exports', () => {
    type Manager = hitl.HumanInTheLoopManager;
    type Options = NonNullable<ConstructorParameters<typeof hitl.HumanInTheLoopManager>[1]>;
    expectTypeOf<Options>().toEqualTypeOf<hitl.HumanInTheLoopManagerOptions>();
    expectTypeOf<NonNullable<Options['rules']>>().toEqualTypeOf<hitl.GateRules>();
    expectTypeOf<Parameters<Manager['pause']>[0]>().toEqualTypeOf<hitl.GraphState | undefined>();
    expectTypeOf<NonNullable<Parameters<Manager['pause']>[2]>>().toEqualTypeOf<hitl.PauseOptions>();
    expectTypeOf<Parameters<Manager['decide']>[1]>().toEqualTypeOf<hitl.SessionDecision>();
    expectTypeOf<hitl.SessionDecision['by']>().toEqualTypeOf<hitl.Principal>();
    expectTypeOf<hitl.SuspendedSession['kind']>().toEqualTypeOf<hitl.HitlSessionKind>();
    expectTypeOf<hitl.Approval>().toEqualTypeOf<hitl.GateDecision | hitl.EditedGate>();
    expectTypeOf<hitl.EditedGate['edit']>().toEqualTypeOf<hitl.RecordedEdit>();
    expectTypeOf<hitl.ApprovalRequest<hitl.HitlGate>['gate']>().toEqualTypeOf<hitl.HitlGate>();
    expectTypeOf(hitl.parseApprovalSignal).returns.toEqualTypeOf<hitl.HitlApprovalSignal | null>();
    expectTypeOf(hitl.routeAfterApproveDesign).returns.toEqualTypeOf<hitl.AskingNode | 'approveDesign'>();
    expectTypeOf<hitl.GraphState['hitlDecisions'][number]>().toEqualTypeOf<hitl.HitlDecisionRecord>();
    expect(hitl.parseApprovalSignal({ approved: true })).toEqual({ approved: true });
  });
});

describe('what graph.ts says of itself', () => {
  const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

  /** The front matter of the specification, line by line. */
  const SPECIFIED = [
    'module: packages/core/src/orchestration/graph.ts',
    'phase: 1',
    'task: "04_langgraph_core_orchestration_engine/03_integrate_sqlite_persistence"',
    'requirements: ["9_ROADMAP-TAS-101", "TAS-009", "TAS-103", "TAS-078", "2_TAS-REQ-016", "9_ROADMAP-PHASE-001", "4_USER_FEATURES-REQ-013"]',
    'exports:',
    '  classes:',
    '    - OrchestrationGraph',
    '  functions:',
    '    - researchNode',
    '    - designNode',
    '    - distillNode',
    '    - implementNode',
    '    - verifyNode',
    '    - routeAfterVerify',
    '    - approveDesignNode',
    '    - approveTaskDagNode',
    '  static_methods:',
    '    - "OrchestrationGraph.withSqlitePersistence(db)"',
    '    - "OrchestrationGraph.configForProject(projectId)"',
    '  types:',
    '    - VerifyRoute',
    'dependencies:',
    '  internal:',
    '    - packages/core/src/orchestration/types.ts',
    '    - packages/core/src/orchestration/hitl.ts',
    '    - packages/core/src/orchestration/SqliteSaver.ts',
    '  external:',
    '    - "@langchain/langgraph"',
    '    - "@langchain/core/runnables"',
    '    - "better-sqlite3"',
  ];

  plainTest('the front matter of its page holds every line that is specified, in their order', () => {
    const [, frontMatter = ''] = read('graph.agent.md').split('---\n');
    expect(frontMatter.split('\n').filter((line) => SPECIFIED.includes(line))).toEqual(SPECIFIED);
  });

  plainTest('it is built from the three modules that its page names first', () => {
    const source = read('graph.ts');
    for (const name of ['types.ts', 'hitl.ts', 'SqliteSaver.ts'])
      expect(source).toContain(`from './${name}'`);
  });
});

describe('the checkpointer', () => {
  plainTest('is a MemorySaver unless one is given', () => {
    expect(new door.OrchestrationGraph().graph.checkpointer).toBeInstanceOf(MemorySaver);
    const own = new MemorySaver();
    expect(new door.OrchestrationGraph(own).graph.checkpointer).toBe(own);
  });

  test('of withSqlitePersistence is made there: the caller only hands over the database', async ({ db }) => {
    await door.OrchestrationGraph.withSqlitePersistence(db).graph.invoke(aState(), SHOP);
    expect((await new SqliteSaver(db).getTuple(SHOP))?.checkpoint.channel_values['status']).toBe(
      'specifying',
    );
  });

  test('gives every checkpoint an id of its own, and keeps the active task in its state', async ({ db }) => {
    await throughBothGates(door.OrchestrationGraph.withSqlitePersistence(db), aPlannedState());
    const ids: string[] = [];
    const active: unknown[] = [];
    for await (const { checkpoint, config } of new SqliteSaver(db).list(SHOP)) {
      expect(config.configurable).toMatchObject({ thread_id: 'shop', checkpoint_id: checkpoint.id });
      ids.push(checkpoint.id);
      active.unshift(checkpoint.channel_values['activeTaskId'] ?? null);
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect([...new Set(active)].slice(0, 3)).toEqual([null, 'shop:1', 'shop:2']);
  });
});

describe('the topology', () => {
  test('leads from the start through both gates and the loop of tasks to the end', async ({ db }) => {
    const state = aState({ epics: [anEpic(1)], tasks: [aTask(1), aTask(2)] });
    await throughBothGates(door.OrchestrationGraph.withSqlitePersistence(db), state);
    const journal = new CheckpointPersister(db);
    const visited = ['shop', 'shop:1', 'shop:2']
      .flatMap((taskId) => journal.loadForTask(taskId))
      .filter(({ turnType }) => turnType === 'Action')
      .map(({ nodeName }) => nodeName);
    const gates = ['research', 'design', 'approveDesign', 'distill', 'approveTaskDag'];
    expect(visited).toEqual([...gates, 'implement', 'verify', 'implement', 'verify']);
  });

  plainTest('draws every edge of the pipeline', async () => {
    const { edges } = await new door.OrchestrationGraph().graph.getGraphAsync();
    const drawn = edges.map(({ source, target }) => `${source} → ${target}`);
    expect(drawn).toEqual(
      expect.arrayContaining([
        '__start__ → research',
        'research → design',
        'design → approveDesign',
        'approveDesign → distill',
        'approveDesign → design',
        'distill → approveTaskDag',
        'approveTaskDag → implement',
        'approveTaskDag → distill',
        'implement → verify',
        'verify → implement',
        'verify → distill',
        'verify → __end__',
        'verify → pivot_agent',
        'error → implement',
        'error → pivot_agent',
        'pivot_agent → __end__',
      ]),
    );
  });
});

describe('what a node returns', () => {
  const state = deepFreeze(aState({ epics: [anEpic(1)], tasks: [aTask(1)] }));

  plainTest.for([
    ['research', door.researchNode, ['status', 'projectConfig']],
    ['design', door.designNode, ['status', 'projectConfig', 'pendingApprovalGate']],
    ['distill', door.distillNode, ['status', 'projectConfig', 'activeEpicId', 'pendingApprovalGate']],
    [
      'implement',
      door.implementNode,
      [
        'status',
        'projectConfig',
        'implementationTurns',
        'activeTaskId',
        'activeEpicId',
        'entropy',
        'errorHistory',
        'taskAttempts',
        'taskPivots',
        'epics',
        'tasks',
      ],
    ],
    ['verify', door.verifyNode, ['tasks', 'epics']],
  ] as const)('%s returns only the channels it changes', ([_name, node, channels]) => {
    expectTypeOf(node).toEqualTypeOf<(state: GraphState) => Partial<GraphState>>();
    expect(Object.keys(node(state)).sort()).toEqual([...channels].sort());
  });
});
