import type { PlanResult } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { submitPlan } from '../stageAnswers.ts';

type Task = PlanResult['epics'][number]['tasks'][number];

const aPlan = (change: Partial<Task> = {}, ids: readonly string[] = ['REQ-1']): PlanResult => ({
  requirements: ids.map((externalId) => ({ externalId, description: 'It works.' })),
  epics: [
    {
      name: 'All',
      description: 'All of it.',
      tasks: [
        {
          key: 'one',
          name: 'One',
          description: 'Do it.',
          dependsOn: [],
          requirements: ['REQ-1'],
          acceptanceCriteria: ['It runs.'],
          ...change,
        },
      ],
    },
  ],
});

const problemIn = (plan: PlanResult): string | undefined =>
  submitPlan.schema.safeParse(plan).error?.issues[0]?.message;

describe('a plan a model hands in', () => {
  test('is taken when requirements and tasks trace to each other', () => {
    expect(problemIn(aPlan())).toBeUndefined();
  });

  test.for([
    [
      'a requirement no task covers',
      aPlan({}, ['REQ-1', 'REQ-2']),
      'no task traces to the requirement "REQ-2".',
    ],
    [
      'a task without a requirement',
      aPlan({ requirements: [] }, []),
      'the task "one" traces to no requirement.',
    ],
    [
      'a task nobody can judge',
      aPlan({ acceptanceCriteria: [] }),
      'the task "one" has no acceptance criterion.',
    ],
  ] as const)('is sent back with %s', ([, plan, problem]) => {
    expect(problemIn(plan)).toBe(problem);
  });
});
