import { END } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashOf } from '../../values/canonicalJson.ts';
import { dagArtifact, designArtifact, isDagApproved } from '../gates/artifacts.ts';
import {
  routeAfterApproveDesign,
  routeAfterApproveTaskDag,
  routeAfterDesign,
  routeAfterDistill,
  routeAfterErrorNode,
  routeAfterImplement,
  routeAfterPivot,
  routeAfterResearch,
  routeAfterVerify,
} from '../routing.ts';
import { abandonTask, closeEpics, firstReadyTask, isTaskTerminal } from '../taskStates.ts';
import type { EpicStatus, GraphState, HitlSessionKind, TaskStatus } from '../types.ts';
import { aChain, aDecision, anEpic, anError, aState, aTask, withApprovedDag } from './aState.ts';

const ROUTERS = {
  routeAfterResearch,
  routeAfterDesign,
  routeAfterApproveDesign,
  routeAfterDistill,
  routeAfterApproveTaskDag,
  routeAfterImplement,
  routeAfterVerify,
  routeAfterPivot,
  routeAfterErrorNode,
} as const;

const suspendedAt = (node: string): Pick<GraphState, 'pendingSuspension'> => ({
  pendingSuspension: { sessionId: 's', kind: 'task_failure', taskId: 'shop:1', node },
});

describe('rule 0 of every router', () => {
  const asking = [
    ['research', 'research'],
    ['design', 'design'],
    ['distill', 'distill'],
    ['implement', 'implement'],
    ['verify', 'implement'],
    ['pivot_agent', 'implement'],
    ['error', 'implement'],
    ['approveDesign', 'implement'],
  ] as const;

  test.for(asking)('a suspension raised at %s is asked at %s', ([node, route]) => {
    const state = aState({
      ...suspendedAt(node),
      pendingRecoveryNode: 'pivot_agent',
      hitlDecisions: [aDecision('design_approval', true), aDecision('dag_approval', true)],
    });
    for (const [name, router] of Object.entries(ROUTERS))
      expect([name, router(state)]).toEqual([name, route]);
  });

  test('reads a state that was made before the channel existed', () => {
    const { pendingSuspension: _, ...older } = aState();
    expect(routeAfterVerify(older as GraphState)).toBe(END);
  });
});

describe('the stages', () => {
  test('follow each other', () => {
    expect(routeAfterResearch(aState())).toBe('design');
    expect(routeAfterDesign(aState())).toBe('approveDesign');
    expect(routeAfterDistill(aState())).toBe('approveTaskDag');
    expect(routeAfterImplement(aState())).toBe('verify');
    expect(routeAfterImplement(aState({ pendingRecoveryNode: 'pivot_agent' }))).toBe('pivot_agent');
  });

  test.for([
    ['no decision', [], 'design', 'distill'],
    [
      'an approval each',
      [aDecision('design_approval', true), aDecision('dag_approval', true)],
      'distill',
      'implement',
    ],
    [
      'a rejection each',
      [aDecision('design_approval', false), aDecision('dag_approval', false)],
      'design',
      'distill',
    ],
    [
      'a rejection, then an approval',
      [aDecision('design_approval', false), aDecision('design_approval', true)],
      'distill',
      'distill',
    ],
    [
      'an approval, then a rejection',
      [aDecision('dag_approval', true), aDecision('dag_approval', false)],
      'design',
      'distill',
    ],
    ['the approval of the other gate', [aDecision('dag_approval', true)], 'design', 'implement'],
  ] as const)('after %s, the last decision of each gate counts', ([_name, hitlDecisions, design, dag]) => {
    expect(routeAfterApproveDesign(aState({ hitlDecisions }))).toBe(design);
    expect(routeAfterApproveTaskDag(aState({ hitlDecisions }))).toBe(dag);
  });
});

describe('routeAfterVerify, first match wins', () => {
  const running = withApprovedDag(
    aState({
      epics: [anEpic(1), anEpic(2)],
      tasks: [aTask(1, { status: 'failed' }), aTask(2)],
      activeTaskId: 'shop:1',
      pendingRecoveryNode: 'pivot_agent',
    }),
  );

  test('1 a suspension before everything', () => {
    expect(routeAfterVerify({ ...running, ...suspendedAt('verify') })).toBe('implement');
    expect(routeAfterVerify({ ...running, ...suspendedAt('distill') })).toBe('distill');
  });

  test('2 a pending pivot', () => expect(routeAfterVerify(running)).toBe('pivot_agent'));

  test('3 the active task failed: try it again', () => {
    expect(routeAfterVerify({ ...running, pendingRecoveryNode: null, hitlDecisions: [] })).toBe('implement');
  });

  const between = { ...running, pendingRecoveryNode: null, activeTaskId: null };

  test('4 the approved DAG has a ready task', () => expect(routeAfterVerify(between)).toBe('implement'));

  test('4 not if the DAG is not approved, was changed since, or was rejected last', () => {
    expect(routeAfterVerify({ ...between, hitlDecisions: [] })).toBe('distill');
    const changed = { ...between, tasks: [...between.tasks, aTask(3)] };
    expect(routeAfterVerify(changed)).toBe('distill');
    const hitlDecisions = [...between.hitlDecisions, aDecision('dag_approval', false)];
    expect(routeAfterVerify({ ...between, hitlDecisions })).toBe('distill');
  });

  test('5 any epic is open', () => {
    const tasks = [aTask(1, { status: 'completed' })];
    expect(routeAfterVerify({ ...between, tasks })).toBe('distill');
    const epics = [anEpic(1, { status: 'completed' }), anEpic(2, { status: 'active' })];
    expect(routeAfterVerify({ ...between, tasks, epics })).toBe('distill');
  });

  test('6 nothing is left', () => {
    const tasks = [aTask(1, { status: 'completed' })];
    const epics = [anEpic(1, { status: 'completed' }), anEpic(2, { status: 'failed' })];
    expect(routeAfterVerify({ ...between, tasks, epics })).toBe(END);
    expect(routeAfterVerify(aState())).toBe(END);
  });
});

describe('after a pivot', () => {
  test.for([
    ['a new strategy goes on', { pendingRecoveryNode: null, status: 'implementing' }, 'implement'],
    ['no strategy ends the run', { pendingRecoveryNode: 'pivot_agent', status: 'strategy_pivot' }, END],
    [
      'a status that still says so ends the run',
      { pendingRecoveryNode: null, status: 'strategy_pivot' },
      END,
    ],
    [
      'a request that still stands ends the run',
      { pendingRecoveryNode: 'pivot_agent', status: 'planning' },
      END,
    ],
  ] as const)('%s', ([_name, parts, route]) => expect(routeAfterPivot(aState(parts))).toBe(route));
});

describe('after an error', () => {
  test.for([
    ['research', 1, 'research'],
    ['design', 2, 'design'],
    ['distill', 1, 'distill'],
    ['implement', 1, 'implement'],
    ['verify', 2, 'implement'],
    ['design', 3, 'pivot_agent'],
    ['implement', 3, 'pivot_agent'],
  ] as const)('in %s, %i in a row, the run goes on at %s', ([node, count, route]) => {
    expect(routeAfterErrorNode(aState({ errorHistory: [anError(node, count)] }))).toBe(route);
  });

  test('nobody recorded the run goes on at implement', () => {
    expect(routeAfterErrorNode(aState())).toBe('implement');
  });
});

const TASK_STATUSES: readonly TaskStatus[] = [
  'pending',
  'in_progress',
  'completed',
  'failed',
  'blocked',
  'resumed',
];
const EPIC_STATUSES: readonly EpicStatus[] = ['pending', 'active', 'completed', 'failed'];
const NODES = ['research', 'design', 'approveDesign', 'distill', 'approveTaskDag', 'implement', 'verify'];

const ids = ['shop:1', 'shop:2', 'shop:3', 'shop:4', 'elsewhere:9'] as const;
const anyTask = fc
  .record({
    number: fc.integer({ min: 1, max: 4 }),
    status: fc.constantFrom(...TASK_STATUSES),
    dependsOn: fc.subarray([...ids]),
    epicId: fc.constantFrom('shop/epic-1', 'shop/epic-2'),
  })
  .map(({ number, ...parts }) => aTask(number, parts));

const anyState: fc.Arbitrary<GraphState> = fc
  .record({
    tasks: fc.uniqueArray(anyTask, { maxLength: 4, selector: ({ taskId }) => taskId }),
    epics: fc
      .array(fc.constantFrom(...EPIC_STATUSES), { maxLength: 3 })
      .map((statuses) => statuses.map((status, index) => anEpic(index + 1, { status }))),
    activeTaskId: fc.option(fc.constantFrom(...ids)),
    pendingRecoveryNode: fc.option(fc.constantFrom('pivot_agent', 'implement')),
    hitlDecisions: fc.array(
      fc
        .tuple(fc.constantFrom('design_approval' as const, 'dag_approval' as const), fc.boolean())
        .map(([gate, approved]) => aDecision(gate, approved)),
      { maxLength: 4 },
    ),
    pendingSuspension: fc.option(
      fc.record({
        sessionId: fc.string(),
        kind: fc.constantFrom<HitlSessionKind>('task_failure', 'budget'),
        taskId: fc.constantFrom(...ids),
        node: fc.constantFrom(...NODES),
      }),
    ),
    errorHistory: fc.array(
      fc.tuple(fc.constantFrom(...NODES), fc.integer({ min: 1, max: 5 })).map((parts) => anError(...parts)),
      { maxLength: 3 },
    ),
    status: fc.constantFrom('implementing' as const, 'strategy_pivot' as const, 'error' as const),
    isApproved: fc.boolean(),
  })
  .map(({ isApproved, ...parts }) => (isApproved ? withApprovedDag(aState(parts)) : aState(parts)));

describe('for every state', () => {
  const TARGETS: Readonly<Record<keyof typeof ROUTERS, readonly string[]>> = {
    routeAfterResearch: ['design', 'research', 'distill', 'implement'],
    routeAfterDesign: ['approveDesign', 'research', 'design', 'distill', 'implement'],
    routeAfterApproveDesign: ['research', 'design', 'distill', 'implement'],
    routeAfterDistill: ['approveTaskDag', 'research', 'design', 'distill', 'implement'],
    routeAfterApproveTaskDag: ['research', 'design', 'distill', 'implement'],
    routeAfterImplement: ['verify', 'pivot_agent', 'research', 'design', 'distill', 'implement'],
    routeAfterVerify: ['pivot_agent', 'research', 'design', 'distill', 'implement', END],
    routeAfterPivot: ['research', 'design', 'distill', 'implement', END],
    routeAfterErrorNode: ['pivot_agent', 'research', 'design', 'distill', 'implement'],
  };

  test('every router leads to a node of the graph, and to the same one each time', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        for (const [name, router] of Object.entries(ROUTERS)) {
          const route = router(state);
          expect(TARGETS[name as keyof typeof ROUTERS]).toContain(route);
          expect(router(state)).toBe(route);
        }
      }),
    );
  });

  test('an open suspension never ends a run', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        fc.pre(state.pendingSuspension !== null);
        for (const router of Object.values(ROUTERS)) expect(router(state)).not.toBe(END);
      }),
    );
  });

  test('a task is picked only when everything it depends on is completed', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const ready = firstReadyTask(state);
        for (const id of ready?.dependsOn ?? []) {
          expect(state.tasks.find(({ taskId }) => taskId === id)?.status).toBe('completed');
        }
      }),
    );
  });

  test('giving a task up leaves nothing that waits for it, and closes what it can', () => {
    fc.assert(
      fc.property(anyState, ({ tasks, epics, activeEpicId }) => {
        const [first] = tasks;
        fc.pre(first !== undefined);
        const after = abandonTask(tasks, first?.taskId ?? '');
        for (const task of after) {
          const waits = task.dependsOn.includes(first?.taskId ?? '') && task.taskId !== first?.taskId;
          if (waits) expect(isTaskTerminal(task, null)).toBe(true);
        }
        const closed = closeEpics({ epics, tasks: after, activeEpicId, activeTaskId: null });
        expect(closed.map(({ epicId }) => epicId)).toEqual(epics.map(({ epicId }) => epicId));
      }),
    );
  });
});

describe('the approval of a DAG', () => {
  const approved = withApprovedDag(
    aState({ epics: [anEpic(1)], tasks: aChain(100), requirements: [], activeTaskId: null }),
  );

  test('survives a hundred tasks that change status, get commits and are given up', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...TASK_STATUSES), { minLength: 100, maxLength: 100 }),
        fc.constantFrom(...EPIC_STATUSES),
        (statuses, epicStatus) => {
          const tasks = approved.tasks.map((task, index) => ({
            ...task,
            status: statuses[index] ?? 'pending',
            gitHash: `${index}`.repeat(8),
          }));
          const epics = [anEpic(1, { status: epicStatus })];
          expect(isDagApproved({ ...approved, tasks, epics })).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('does not depend on the order of tasks, or of what a task depends on', () => {
    const tasks = [...approved.tasks, aTask(101, { dependsOn: ['shop:7', 'shop:3'] })];
    const base = withApprovedDag({ ...approved, tasks });
    const shuffled = tasks.map((task) => ({ ...task, dependsOn: [...task.dependsOn].reverse() })).reverse();
    expect(isDagApproved({ ...base, tasks: shuffled })).toBe(true);
  });

  test.for([
    ['a name', { name: 'Another' }],
    ['a description', { description: 'More.' }],
    ['an edge', { dependsOn: ['shop:2'] }],
    ['a role', { agentRole: 'reviewer' }],
    ['a criterion', { acceptanceCriteria: ['It is fast.'] }],
    ['a requirement', { requirementIds: ['shop/REQ-9'] }],
    ['an epic', { epicId: 'shop/epic-2' }],
    ['an id', { taskId: 'shop:999' }],
  ] as const)('is gone when %s of a task changes', ([_name, change]) => {
    const tasks = approved.tasks.map((task, index) => (index === 50 ? { ...task, ...change } : task));
    expect(isDagApproved({ ...approved, tasks })).toBe(false);
  });

  test('is gone when the text of an epic or a requirement changes', () => {
    expect(isDagApproved({ ...approved, epics: [anEpic(1, { description: 'All of it.' })] })).toBe(false);
    const requirement = {
      requirementId: 'shop/REQ-1',
      projectId: 'shop',
      externalId: 'REQ-1',
      description: 'It works.',
      status: 'pending',
      dependsOn: [],
    } as const;
    const withRequirement = withApprovedDag({ ...approved, requirements: [requirement] });
    expect(
      isDagApproved({ ...withRequirement, requirements: [{ ...requirement, status: 'satisfied' }] }),
    ).toBe(true);
    expect(
      isDagApproved({ ...withRequirement, requirements: [{ ...requirement, description: 'No.' }] }),
    ).toBe(false);
  });

  test('is none without the hash of what was shown', () => {
    expect(isDagApproved(aState({ hitlDecisions: [aDecision('dag_approval', true)] }))).toBe(false);
    expect(isDagApproved(aState())).toBe(false);
  });

  test('of an empty DAG is one', () => expect(isDagApproved(withApprovedDag(aState()))).toBe(true));
});

describe('the hash of a design', () => {
  const document = {
    documentId: 'shop/PRD',
    projectId: 'shop',
    type: 'PRD',
    title: 'PRD',
    content: 'Sell.',
    status: 'draft',
    version: 1,
    createdAt: 'x',
    updatedAt: 'x',
  } as const;
  const hash = (parts: object): string =>
    hashOf(designArtifact(aState({ documents: [{ ...document, ...parts }] })));

  test('covers the words and the version, and not status or times', () => {
    expect(hash({ status: 'approved', updatedAt: 'y' })).toBe(hash({}));
    for (const change of [{ title: 'x' }, { content: 'x' }, { version: 2 }, { type: 'TAS' }]) {
      expect(hash(change)).not.toBe(hash({}));
    }
  });

  test('is another one than that of an empty DAG', () => {
    expect(hashOf(dagArtifact(aState()))).not.toBe(hashOf(designArtifact(aState())));
  });
});
