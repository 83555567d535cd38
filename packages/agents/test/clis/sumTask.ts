import type { PlanResult, TaskRequest } from '@devs/core';
import type { Model, Say } from './Turn.ts';

/** The file that has to be edited, and how it looks afterwards. */
export const FILE = 'sum.mjs';
export const BEFORE = 'export const sum = (a, b) => 0;\n';
export const AFTER = 'export const sum = (a, b) => a + b;\n';

export const SUMMARY = 'It is done.';
const CRITERION = '1 + 2 is 3';

export const VERDICT = {
  approved: true,
  comments: 'Simple.',
  evidence: [{ criterion: CRITERION, shownBy: 'sum.mjs: the body' }],
} as const;

const TEST = `import assert from 'node:assert';
import { test } from 'node:test';
import { sum } from './${FILE}';

test('adds', () => assert.equal(sum(1, 2), 3));
`;

/** What a run begins with: a test may not bring the code that it is red without. */
export const FILES_BEFORE = { [FILE]: BEFORE } as const;

/** What a run leaves behind when every stage that edits was done by the model below. */
export const FILES_OF_RUN = ['README.md', FILE, 'sum.test.mjs'];

export const PLAN: PlanResult = {
  requirements: [{ externalId: 'REQ-1', description: 'Adds two numbers.' }],
  epics: [
    {
      name: 'Sum',
      description: 'All of it.',
      tasks: [
        {
          key: 'sum',
          name: 'Add two numbers',
          description: 'sum adds.',
          dependsOn: [],
          requirements: ['REQ-1'],
          acceptanceCriteria: [CRITERION],
        },
      ],
    },
  ],
};

export const sumTask = (dir: string): TaskRequest => ({
  task: { taskId: 'sum:1', name: 'Add', description: 'sum adds.', acceptanceCriteria: [CRITERION] },
  documents: [],
  attempt: 1,
  lastFailure: null,
  guidance: [],
  workspace: { dir, list: async () => [FILE], read: async () => BEFORE },
});

/** How files are changed by the tools of one CLI: what its model says, a call after the other. */
export interface Editor {
  /** @param files - Contents by path. */
  readonly create: (files: Readonly<Record<string, string>>) => readonly Say[];
  /** Turns {@link BEFORE} into {@link AFTER}. */
  readonly edit: readonly Say[];
}

/** A model that knows this one task, and does it by the tools of a CLI. */
export function sumModel({ create, edit }: Editor): Model {
  const test = create({ 'sum.test.mjs': TEST });
  const stages: readonly (readonly [string, readonly Say[]])[] = [
    ['write the failing test', test],
    ['implement', edit],
    ['review', [{ kind: 'text', text: `Seen.\n\n\`\`\`json\n${JSON.stringify(VERDICT)}\n\`\`\`\n` }]],
    ['document', create({ 'README.md': '# Sum\n' })],
  ];
  return ({ asked, carriedOut }) => {
    const [, says = []] = stages.find(([name]) => asked.includes(`Stage: ${name}`)) ?? [];
    return says[carriedOut] ?? { kind: 'text', text: SUMMARY };
  };
}
