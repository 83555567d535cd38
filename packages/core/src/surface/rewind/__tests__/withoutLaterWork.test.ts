import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { howMany } from '../../../../test/support/howMany.ts';
import { aChain, anEpic, aState, aTask } from '../../../orchestration/__tests__/aState.ts';
import { dependentsOf, firstReadyTask, isEpicOpen } from '../../../orchestration/taskStates.ts';
import type { GraphState, TaskRecord, TaskStatus } from '../../../orchestration/types.ts';
import { rewoundState, withoutLaterWork } from '../rewoundState.ts';

const RUNS = howMany('DEVS_REWIND_CASES', 300);

/** A state the pipeline can be in: tasks are begun when what they depend on is done, in the order of the plan. */
const reachable: fc.Arbitrary<GraphState> = fc
  .array(
    fc.record({
      edges: fc.array(fc.nat(20), { maxLength: 3 }),
      end: fc.constantFrom('completed', 'completed', 'failed'),
    }),
    {
      minLength: 1,
      maxLength: 9,
    },
  )
  .chain((drafts) =>
    fc.record({
      drafts: fc.constant(drafts),
      worked: fc.nat(drafts.length),
      active: fc.constantFrom(null, 'in_progress', 'resumed', 'failed'),
    }),
  )
  .map(({ drafts, worked, active }) => {
    let tasks: readonly TaskRecord[] = drafts.map(({ edges }, at) =>
      aTask(at + 1, {
        epicId: `shop/epic-${1 + (at % 2)}`,
        dependsOn: at === 0 ? [] : [...new Set(edges.map((edge) => `shop:${(edge % at) + 1}`))],
      }),
    );
    const set = (taskId: string, status: TaskStatus): void => {
      const blocked = status === 'failed' ? dependentsOf(tasks, taskId) : new Set();
      tasks = tasks.map((task) => {
        if (task.taskId === taskId)
          return { ...task, status, ...(status === 'completed' && { gitHash: `c${taskId}` }) };
        return blocked.has(task.taskId) ? { ...task, status: 'blocked' as const } : task;
      });
    };
    for (const { end } of drafts.slice(0, worked)) {
      const ready = firstReadyTask({ tasks });
      if (ready !== null) set(ready.taskId, end as TaskStatus);
    }
    const next = active === null ? null : firstReadyTask({ tasks });
    if (next !== null)
      tasks = tasks.map((task) => (task === next ? { ...task, status: active as TaskStatus } : task));
    return aState({ tasks, activeTaskId: next?.taskId ?? null, epics: [anEpic(1), anEpic(2)] });
  });

const targets = ({ tasks }: GraphState): readonly TaskRecord[] =>
  tasks.filter(({ status }) => status !== 'pending' && status !== 'blocked');

/** Every task a rewind may go back to, in every reachable state. */
function everywhere(check: (state: GraphState, target: TaskRecord) => void): void {
  fc.assert(
    fc.property(reachable, (state) => {
      for (const target of targets(state)) check(state, target);
    }),
    { numRuns: RUNS },
  );
}

describe('going back to a task', () => {
  it('undoes what was begun of its dependents and the task under way, and nothing else', () => {
    everywhere((state, target) => {
      const later = dependentsOf(state.tasks, target.taskId);
      const { tasks, undone } = withoutLaterWork(state, target);
      for (const [at, before] of state.tasks.entries()) {
        const after = tasks[at] as TaskRecord;
        const isActive = before.taskId === state.activeTaskId;
        const isAnew = before === target && before.status !== 'completed';
        if (!later.has(before.taskId) && !isActive && !isAnew) expect(after).toEqual(before);
        else expect(['pending', 'blocked']).toContain(after.status);
        expect(undone.includes(before)).toBe(after.status !== before.status);
      }
      if (target.status === 'completed') expect(undone).not.toContain(target);
    });
  });

  it('leaves no commit or evidence at a task that is undone', () => {
    everywhere((state, target) => {
      const { tasks, undone } = withoutLaterWork(state, target);
      const ids = new Set(undone.map(({ taskId }) => taskId));
      for (const task of tasks) if (ids.has(task.taskId)) expect(task).not.toHaveProperty('gitHash');
    });
  });

  it('lets no completed task stand on one that is not', () => {
    everywhere((state, target) => {
      const { tasks } = withoutLaterWork(state, target);
      const statusOf = new Map(tasks.map(({ taskId, status }) => [taskId, status]));
      for (const { status, dependsOn } of tasks) {
        if (status === 'completed')
          expect(dependsOn.every((id) => statusOf.get(id) === 'completed')).toBe(true);
      }
    });
  });

  it('leads to a ready task whenever it leaves one that is pending, so the run can go on', () => {
    everywhere((state, target) => {
      const { tasks } = withoutLaterWork(state, target);
      const isPending = tasks.some(({ status }) => status === 'pending');
      expect(firstReadyTask({ tasks }) !== null).toBe(isPending);
    });
  });

  it('changes nothing the second time', () => {
    everywhere((state, target) => {
      const { tasks } = withoutLaterWork(state, target);
      const again = tasks.find(({ taskId }) => taskId === target.taskId) as TaskRecord;
      if (again.status === 'completed')
        expect(withoutLaterWork({ tasks, activeTaskId: null }, again).undone).toEqual([]);
    });
  });

  it('keeps a dependent blocked that another task blocks, which was given up and stays so', () => {
    const [first, second] = [aTask(1, { status: 'completed' }), aTask(2, { status: 'failed' })];
    const third = aTask(3, { status: 'blocked', dependsOn: ['shop:1', 'shop:2'] });
    const { tasks, undone } = withoutLaterWork({ tasks: [first, second, third], activeTaskId: null }, first);
    expect(undone).toEqual([]);
    expect(tasks[2]).toEqual(third);
  });
});

describe('a task that a human had sent back', () => {
  const sentBack = aTask(2, { status: 'in_progress', gitHash: 'c', attempts: 2 });
  const first = aTask(1, { status: 'completed', gitHash: 'a' });

  it('is as it was sent back, when it does not depend on the target', () => {
    const { tasks, undone } = withoutLaterWork({ tasks: [first, sentBack], activeTaskId: 'shop:2' }, first);
    expect(undone).toEqual([sentBack]);
    expect(tasks[1]).toEqual({ ...sentBack, status: 'pending' });
  });

  it('is begun anew when it does, even when nothing of the rework was begun', () => {
    const pending = { ...sentBack, status: 'pending' as const, dependsOn: ['shop:1'] };
    const { tasks, undone } = withoutLaterWork({ tasks: [first, pending], activeTaskId: null }, first);
    expect(undone).toEqual([pending]);
    expect(tasks[1]).toEqual(aTask(2, { dependsOn: ['shop:1'] }));
  });
});

describe('the state of a run that was set back', () => {
  const done = aChain(3).map((task): TaskRecord => ({ ...task, status: 'completed', gitHash: 'c' }));
  const ended = aState({
    status: 'failed',
    tasks: done,
    epics: [anEpic(1, { status: 'completed' }), anEpic(2, { status: 'completed' })],
    activeTaskId: 'shop:3',
    pivots: [{ taskId: 'shop:3', strategy: 's', fingerprint: 'f', reason: 'r' }],
    guidance: [{ taskId: 'shop:3', text: 'Smaller.' }],
    pendingSuspension: { sessionId: 's', kind: 'task_failure', taskId: 'shop:3', node: 'verify' },
    pendingRecoveryNode: 'pivot_agent',
    taskAttempts: 4,
    taskPivots: 1,
    implementationTurns: 3,
  });

  it('is implementing, with open epics, nothing counted and no question', () => {
    const target = done[0] as TaskRecord;
    const update = rewoundState(ended, target, withoutLaterWork(ended, target), 42);
    expect(update).toMatchObject({
      status: 'implementing',
      activeTaskId: null,
      pendingSuspension: null,
      pendingRecoveryNode: null,
      taskAttempts: 0,
      taskPivots: 0,
      implementationTurns: 0,
      pivots: [],
      progressStep: 42,
    });
    expect(update.epics?.map(({ status }) => status)).toEqual(['active', 'completed']);
    expect(update).not.toHaveProperty('guidance');
    expect(update.hitlDecisions).toEqual(ended.hitlDecisions);
  });

  it('has an open epic exactly where a task is left to do', () => {
    everywhere((state, target) => {
      const plan = withoutLaterWork(state, target);
      const closed = { ...state, epics: state.epics.map((epic) => ({ ...epic, status: 'failed' as const })) };
      const { epics = [] } = rewoundState(closed, target, plan, 1);
      const touched = new Set(plan.undone.map(({ epicId }) => epicId));
      for (const epic of epics.filter(({ epicId }) => touched.has(epicId))) {
        const isLeft = plan.tasks.some(
          ({ epicId, status }) => epicId === epic.epicId && status === 'pending',
        );
        expect(isEpicOpen(epic)).toBe(isLeft);
      }
    });
  });
});
