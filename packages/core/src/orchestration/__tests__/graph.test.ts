import { Command, isInterrupted, MemorySaver } from '@langchain/langgraph';
import { describe, expect, test as plainTest } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { EventBus } from '../../events/events.ts';
import { CheckpointPersister } from '../../state/CheckpointPersister.ts';
import {
  approveDesignNode,
  approveTaskDagNode,
  designNode,
  distillNode,
  implementNode,
  OrchestrationGraph,
  researchNode,
  routeAfterVerify,
  verifyNode,
} from '../graph.ts';
import { MAX_IMPLEMENTATION_TURNS } from '../robustness.ts';
import type { GraphState, ProjectStatus } from '../types.ts';
import { aChain, anEpic, aState, aTask, deepFreeze } from './aState.ts';

const NODES = [
  'approveDesign',
  'approveTaskDag',
  'design',
  'distill',
  'error',
  'implement',
  'pivot_agent',
  'research',
  'verify',
];

const yes = { approved: true };

/** Invokes until nothing is asked any more; answers every question with yes. */
async function toTheEnd(og: OrchestrationGraph, state: GraphState) {
  const config = OrchestrationGraph.configForProject('shop');
  let result: GraphState = await og.graph.invoke(state, config);
  let gates = 0;
  while (isInterrupted(result)) {
    gates += 1;
    result = await og.graph.invoke(new Command({ resume: yes }), config);
  }
  return { result, gates };
}

describe('the topology', () => {
  plainTest('has exactly nine nodes of ours', () => {
    const names = Object.keys(new OrchestrationGraph().graph.nodes);
    expect(names.filter((name) => !name.startsWith('__')).sort()).toEqual(NODES);
  });

  plainTest('is the same with SQLite and with agents in mind: nothing else is exported as a node', () => {
    for (const node of [researchNode, designNode, distillNode, implementNode, verifyNode]) {
      expect(node).toBeTypeOf('function');
    }
    expect([approveDesignNode, approveTaskDagNode, routeAfterVerify].every(Boolean)).toBe(true);
  });

  plainTest('carries its defaults: sync durability, strict resume, no limit of its own in the way', () => {
    const { config } = new OrchestrationGraph().graph as unknown as {
      config: { durability: string; recursionLimit: number; configurable: object };
    };
    expect(config).toMatchObject({ durability: 'sync', configurable: { __pregel_strict_resume: true } });
    expect(config.recursionLimit).toBeGreaterThanOrEqual(1_000_000);
  });

  plainTest('hands out one config per project', () => {
    expect(OrchestrationGraph.configForProject('shop')).toEqual({ configurable: { thread_id: 'shop' } });
  });
});

describe('without agents', () => {
  plainTest('a project without epics passes both gates and ends implementing', async () => {
    const { result, gates } = await toTheEnd(new OrchestrationGraph(), aState());
    expect(gates).toBe(2);
    expect(result).toMatchObject({
      status: 'implementing',
      projectConfig: { status: 'implementing' },
      pendingApprovalGate: null,
      hitlDecisions: [{ gate: 'design_approval' }, { gate: 'dag_approval' }],
    });
  });

  plainTest('an epic with tasks ends completed', async () => {
    const { result, gates } = await toTheEnd(
      new OrchestrationGraph(),
      aState({ epics: [anEpic(1)], tasks: aChain(3) }),
    );
    expect(gates).toBe(2);
    expect(result).toMatchObject({ status: 'completed', projectConfig: { status: 'completed' } });
    expect(result.epics).toMatchObject([{ status: 'completed' }]);
    expect(new Set(result.tasks.map(({ status }) => status))).toEqual(new Set(['completed']));
  });

  plainTest('an epic that had failed makes it end failed', async () => {
    const epics = [anEpic(1, { status: 'failed' }), anEpic(2)];
    const tasks = [aTask(1, { status: 'failed' }), aTask(2, { epicId: 'shop/epic-2' })];
    const { result } = await toTheEnd(new OrchestrationGraph(), aState({ epics, tasks }));
    expect(result).toMatchObject({ status: 'failed', projectConfig: { status: 'failed' } });
    expect(result.epics.map(({ status }) => status)).toEqual(['failed', 'completed']);
  });

  plainTest('an epic without tasks is closed once distill has found nothing for it', async () => {
    const { result, gates } = await toTheEnd(
      new OrchestrationGraph(),
      aState({ epics: [anEpic(1), anEpic(2)] }),
    );
    expect(result.status).toBe('completed');
    expect(gates).toBe(3);
  });

  test('a hundred tasks in a chain need two gates in all, and no depth gate', async ({ db }) => {
    const events = new EventBus();
    const warnings: string[] = [];
    events.on('RECURSION_DEPTH_WARNING', () => warnings.push('depth'));
    const og = OrchestrationGraph.withSqlitePersistence(db, { events });
    const { result, gates } = await toTheEnd(og, aState({ epics: [anEpic(1)], tasks: aChain(100) }));
    expect([gates, warnings, result.status]).toEqual([2, [], 'completed']);
    expect(result.tasks.every(({ status }) => status === 'completed')).toBe(true);
    expect(new CheckpointPersister(db).loadForTask('shop:100').map(({ nodeName }) => nodeName)).toContain(
      'verify',
    );
  });
});

describe('the plain nodes', () => {
  const NODE_STATUS: readonly (readonly [
    string,
    (state: GraphState) => Partial<GraphState>,
    ProjectStatus,
  ])[] = [
    ['research', researchNode, 'researching'],
    ['design', designNode, 'specifying'],
    ['distill', distillNode, 'planning'],
    ['implement', implementNode, 'implementing'],
  ];

  plainTest.for(NODE_STATUS)(
    '%s is synchronous, mutates nothing and sets both statuses',
    ([_name, node, status]) => {
      const state = deepFreeze(aState({ epics: [anEpic(1)], tasks: aChain(3) }));
      const update = node(state);
      expect(update).not.toBeInstanceOf(Promise);
      expect(update).toMatchObject({ status, projectConfig: { status, projectId: 'shop' } });
    },
  );

  plainTest('design and distill announce their gate', () => {
    expect(designNode(aState()).pendingApprovalGate).toBe('design_approval');
    expect(distillNode(aState()).pendingApprovalGate).toBe('dag_approval');
  });

  plainTest('distill takes up the next open epic', () => {
    const epics = [anEpic(1, { status: 'completed' }), anEpic(2), anEpic(3)];
    expect(distillNode(aState({ epics })).activeEpicId).toBe('shop/epic-2');
    expect(distillNode(aState({ activeEpicId: 'shop/epic-7' })).activeEpicId).toBe('shop/epic-7');
  });

  plainTest('verify completes the active task, mutating nothing', () => {
    const tasks = [aTask(1, { status: 'in_progress' }), aTask(2)];
    const state = deepFreeze(aState({ epics: [anEpic(1)], tasks, activeTaskId: 'shop:1' }));
    expect(verifyNode(state).tasks?.map(({ status }) => status)).toEqual(['completed', 'pending']);
  });

  plainTest('verify does nothing while a pivot is pending, so that a spent task is not called done', () => {
    const tasks = [aTask(1, { status: 'in_progress' })];
    expect(verifyNode(aState({ tasks, activeTaskId: 'shop:1', pendingRecoveryNode: 'pivot_agent' }))).toEqual(
      {},
    );
  });
});

describe('implement', () => {
  plainTest('picks the first ready task in the order of the DAG, and marks it and its epic', () => {
    const tasks = [aTask(1, { status: 'completed' }), aTask(2, { dependsOn: ['shop:3'] }), aTask(3)];
    const update = implementNode(deepFreeze(aState({ epics: [anEpic(1)], tasks })));
    expect(update).toMatchObject({
      activeTaskId: 'shop:3',
      activeEpicId: 'shop/epic-1',
      implementationTurns: 1,
    });
    expect(update.tasks?.map(({ status }) => status)).toEqual(['completed', 'pending', 'in_progress']);
    expect(update.epics).toMatchObject([{ status: 'active' }]);
  });

  plainTest('counts on for the same task and starts anew for another one', () => {
    const tasks = [aTask(1, { status: 'failed' }), aTask(2)];
    const episode = {
      tasks,
      activeTaskId: 'shop:1',
      implementationTurns: 7,
      entropy: [{ outputHash: 'a', seenAt: 'x', taskId: 'shop:1', loopCount: 2 }],
    };
    expect(implementNode(aState(episode)).implementationTurns).toBe(8);
    const next = implementNode(
      aState({ ...episode, tasks: [aTask(1, { status: 'completed' }), aTask(2)], implementationTurns: 10 }),
    );
    expect(next).toMatchObject({
      activeTaskId: 'shop:2',
      implementationTurns: 1,
      entropy: [],
      errorHistory: [],
    });
  });

  plainTest('hands over to the pivot when the budget is spent, before it works', () => {
    const tasks = [aTask(1, { status: 'failed' })];
    const update = implementNode(
      aState({ tasks, activeTaskId: 'shop:1', implementationTurns: MAX_IMPLEMENTATION_TURNS }),
    );
    expect(update).toMatchObject({ status: 'strategy_pivot', pendingRecoveryNode: 'pivot_agent' });
    expect(update.projectConfig?.status).toBe('strategy_pivot');
    expect(update.tasks).toBeUndefined();
  });

  plainTest('hands over to the pivot when the task loops', () => {
    const entropy = [{ outputHash: 'a', seenAt: 'x', taskId: 'shop:1', loopCount: 3 }];
    const tasks = [aTask(1, { status: 'in_progress' })];
    expect(implementNode(aState({ tasks, activeTaskId: 'shop:1', entropy })).pendingRecoveryNode).toBe(
      'pivot_agent',
    );
  });

  plainTest('with nothing to do only counts', () => {
    const update = implementNode(aState());
    expect(update).toMatchObject({ status: 'implementing', implementationTurns: 1 });
    expect(update.activeTaskId).toBeUndefined();
  });

  plainTest('a task that uses up its budget ends the project in a pivot', async () => {
    const tasks = [aTask(1, { status: 'in_progress' })];
    const stuck = aState({
      epics: [anEpic(1)],
      tasks,
      activeTaskId: 'shop:1',
      implementationTurns: MAX_IMPLEMENTATION_TURNS,
    });
    const { result } = await toTheEnd(new OrchestrationGraph(), stuck);
    expect(result).toMatchObject({ status: 'strategy_pivot', implementationTurns: 0 });
    expect(result.tasks).toMatchObject([{ status: 'in_progress' }]);
  });
});

describe('plain LangGraph use', () => {
  plainTest('an unknown interrupt id is refused, and the gate stays open', async () => {
    const og = new OrchestrationGraph();
    const config = OrchestrationGraph.configForProject('shop');
    await og.graph.invoke(aState(), config);
    const resume = { ['0'.repeat(32)]: yes };
    await expect(og.graph.invoke(new Command({ resume }), config)).rejects.toThrow(/interrupt/i);
    const { tasks } = await og.graph.getState(config);
    expect(tasks.flatMap(({ interrupts }) => interrupts)).toMatchObject([
      { value: { gate: 'design_approval' } },
    ]);
    expect((await og.graph.invoke(new Command({ resume: yes }), config)).status).toBe('planning');
  });

  plainTest('two projects on one checkpointer do not meet', async () => {
    const checkpointer = new MemorySaver();
    const [one, two] = [new OrchestrationGraph(checkpointer), new OrchestrationGraph(checkpointer)];
    const configs = ['one', 'two'].map((id) => OrchestrationGraph.configForProject(id));
    await one.graph.invoke(aState(), only(configs.slice(0, 1)));
    await two.graph.invoke(aState(), only(configs.slice(1)));
    await one.graph.invoke(new Command({ resume: yes }), only(configs.slice(0, 1)));
    const states = await Promise.all(configs.map((config) => one.graph.getState(config)));
    expect(states.map(({ values }) => (values as GraphState).hitlDecisions.length)).toEqual([1, 0]);
  });
});
