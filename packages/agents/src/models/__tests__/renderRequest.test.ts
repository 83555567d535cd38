import type { TaskRequest } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { renderRequest } from '../renderRequest.ts';

const brief = { type: 'BRIEF', title: 'Sum', content: '# Sum' };
const prd = { type: 'PRD', title: 'What', content: 'Adds.\n' };

describe('renderRequest', () => {
  test('gives a proposal brief, documents and feedback, the brief once', () => {
    const request = { brief: '# Sum\n', attempt: 2, documents: [brief, prd], feedback: 'Shorter.' };
    expect(renderRequest(request)).toBe(
      [
        '<brief>\n# Sum\n</brief>',
        '<document type="PRD" title="What">\nAdds.\n</document>',
        '<feedback_on_the_last_proposal>\nShorter.\n</feedback_on_the_last_proposal>',
      ].join('\n\n'),
    );
  });

  test('leaves out what there is not', () => {
    expect(renderRequest({ brief: '# Sum', attempt: 1 })).toBe('<brief>\n# Sum\n</brief>');
  });

  test('gives a task its criteria, its last failure and what people said', () => {
    const request: TaskRequest = {
      task: { taskId: 'sum:1', name: 'Add', description: 'Adds.', acceptanceCriteria: ['2 + 2 is 4'] },
      documents: [brief],
      attempt: 2,
      lastFailure: 'not ok 1',
      guidance: ['Use integers.'],
      workspace: { list: async () => [], read: async () => '' },
    };
    expect(renderRequest(request)).toBe(
      [
        '<document type="BRIEF" title="Sum">\n# Sum\n</document>',
        '<task>\n# Add\nAdds.\nAcceptance criteria:\n- 2 + 2 is 4\n</task>',
        'This is attempt 2 at the task.',
        '<last_failure>\nnot ok 1\n</last_failure>',
        '<guidance>\nUse integers.\n</guidance>',
      ].join('\n\n'),
    );
  });
});
