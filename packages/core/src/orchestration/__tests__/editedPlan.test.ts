import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aPlan } from '../../testing/fakeAgents.ts';
import { dagArtifact } from '../gates/artifacts.ts';
import { editedPlan, planDraftOf, planFrom } from '../nodes/plan.ts';
import type { PlanResult, TaskDraft } from '../ports.ts';
import { taskNumber } from '../taskStates.ts';
import type { GraphState } from '../types.ts';
import { AT, aState } from './aState.ts';

const aNewTask = (key: string, parts: Partial<TaskDraft> = {}): TaskDraft => ({
  key,
  name: key,
  description: '',
  dependsOn: [],
  requirements: [],
  acceptanceCriteria: [],
  ...parts,
});

const withTasks = (draft: PlanResult, tasks: readonly TaskDraft[]): PlanResult => ({
  ...draft,
  epics: draft.epics.map((epic) => ({ ...epic, tasks })),
});

const tasksOf = ({ epics }: PlanResult): readonly TaskDraft[] => epics.flatMap(({ tasks }) => tasks);

const aPlannedState = (tasks: number): GraphState => {
  const state = aState();
  return { ...state, ...planFrom(state, aPlan(tasks)) };
};

/** The state after an edit, as the gate leaves it. */
const afterEdit = (state: GraphState, draft: PlanResult): GraphState => {
  const lastTaskNumber = Math.max(0, ...state.tasks.map(({ taskId }) => taskNumber(taskId)));
  const edit = { artifactHash: '0', lastTaskNumber };
  const signal = { approved: false };
  const decision = { gate: 'dag_approval', signal, decidedAt: AT, edit } as const;
  return {
    ...state,
    ...editedPlan(state, draft),
    hitlDecisions: [...state.hitlDecisions, decision],
  };
};

describe('a plan that a human edited', () => {
  test('is the same plan when nothing was changed', () => {
    const state = aPlannedState(4);
    const { requirements, epics, tasks } = state;
    expect(editedPlan(state, planDraftOf(state))).toEqual({ requirements, epics, tasks });
  });

  test('keeps the kinds of tasks, which its artifact has only where there are some', () => {
    const plain = aPlannedState(2);
    const [first, second] = tasksOf(planDraftOf(plain)) as [TaskDraft, TaskDraft];
    const kind = { kind: 'checked-by', checkedBy: 'npm run docs' } as const;
    const tasks = [{ ...first, kind: 'test-first' } as const, { ...second, ...kind }];
    const edited = afterEdit(plain, withTasks(planDraftOf(plain), tasks));
    expect(edited.tasks[0]).not.toHaveProperty('kind');
    expect(edited.tasks[1]).toMatchObject(kind);
    expect(tasksOf(planDraftOf(edited))[1]).toMatchObject(kind);
    expect(dagArtifact(edited).tasks[1]).toMatchObject(kind);
    expect(Object.keys(dagArtifact(plain).tasks[1] ?? {})).not.toContain('kind');
  });

  test('keeps the ids of kept tasks, drops others, and works in the new order', () => {
    const state = aPlannedState(3);
    const [first, , third] = tasksOf(planDraftOf(state)) as [TaskDraft, TaskDraft, TaskDraft];
    const draft = withTasks(planDraftOf(state), [{ ...third, dependsOn: [] }, first]);
    expect(editedPlan(state, draft).tasks).toMatchObject([
      { taskId: 'shop:3', name: 'Task 3', dependsOn: [] },
      { taskId: 'shop:1', name: 'Task 1' },
    ]);
  });

  test('gives the parts of a split task new numbers, which others may depend on', () => {
    const state = aPlannedState(2);
    const [first, second] = tasksOf(planDraftOf(state)) as [TaskDraft, TaskDraft];
    const draft = withTasks(planDraftOf(state), [
      first,
      aNewTask('parse', { dependsOn: ['T1'] }),
      aNewTask('print', { dependsOn: ['parse'] }),
      { ...second, dependsOn: ['print'] },
    ]);
    expect(editedPlan(state, draft).tasks).toMatchObject([
      { taskId: 'shop:1' },
      { taskId: 'shop:3', dependsOn: ['shop:1'] },
      { taskId: 'shop:4', dependsOn: ['shop:3'] },
      { taskId: 'shop:2', dependsOn: ['shop:4'] },
    ]);
  });

  test('does not issue the number of a dropped task again', () => {
    const planned = aPlannedState(2);
    const [first] = tasksOf(planDraftOf(planned)) as [TaskDraft];
    const dropped = afterEdit(planned, withTasks(planDraftOf(planned), [first]));
    const { tasks } = editedPlan(dropped, withTasks(planDraftOf(dropped), [first, aNewTask('more')]));
    expect(tasks.map(({ taskId }) => taskId)).toEqual(['shop:1', 'shop:3']);
  });

  test.each([
    ['a cycle', ['T1', 'T2'], 'cycle T1 → T2 → T1'],
    ['a task that is no longer there', ['T7'], '"T1" depends on "T7", which is no task'],
  ])('is refused for %s', (_what, dependsOn, problem) => {
    const state = aPlannedState(2);
    const [first, second] = tasksOf(planDraftOf(state)) as [TaskDraft, TaskDraft];
    const draft = withTasks(planDraftOf(state), [{ ...first, dependsOn: dependsOn.slice(-1) }, second]);
    expect(() => editedPlan(state, draft)).toThrow(
      expect.objectContaining({ code: 'DAG_INVALID', message: expect.stringContaining(problem) }),
    );
  });

  test('is refused for a number nobody issued, and for two epics of one name', () => {
    const state = aPlannedState(1);
    const draft = planDraftOf(state);
    const invented = withTasks(draft, [aNewTask('T9')]);
    expect(() => editedPlan(state, invented)).toThrow('"T9" is no task of this plan');
    const twice = { ...draft, epics: [...draft.epics, { ...draft.epics[0], tasks: [aNewTask('x')] }] };
    expect(() => editedPlan(state, twice as PlanResult)).toThrow('epic name "Everything" is used twice');
  });

  test('over any edits: ids stay unique, kept ones stay, dropped ones never come back, and nothing dangles', () => {
    const edit = fc.record({
      keep: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
      added: fc.integer({ min: 0, max: 3 }),
      reversed: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(edit, { maxLength: 5 }), (size, edits) => {
        let state = aPlannedState(size);
        const everIssued = new Set(state.tasks.map(({ taskId }) => taskId));
        for (const { keep, added, reversed } of edits) {
          const kept = tasksOf(planDraftOf(state)).filter((_task, index) => keep[index % keep.length]);
          const free = kept.map((task) => ({ ...task, dependsOn: [] }));
          const news = Array.from({ length: added }, (_, index) =>
            aNewTask(`new-${index}`, { dependsOn: free.slice(0, 1).map(({ key }) => key) }),
          );
          const tasks = [...free, ...news];
          if (tasks.length === 0) continue;
          const before = new Set(state.tasks.map(({ taskId }) => taskId));
          state = afterEdit(state, withTasks(planDraftOf(state), reversed ? tasks.toReversed() : tasks));
          const ids = state.tasks.map(({ taskId }) => taskId);
          expect(new Set(ids).size).toBe(tasks.length);
          for (const id of ids) expect(before.has(id) || !everIssued.has(id)).toBe(true);
          for (const { dependsOn } of state.tasks)
            expect(ids).toEqual(expect.arrayContaining([...dependsOn]));
          for (const id of ids) everIssued.add(id);
        }
      }),
    );
  });
});
