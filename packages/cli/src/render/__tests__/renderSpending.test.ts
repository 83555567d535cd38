import { expect, it } from 'vitest';
import { textOfAll } from '../../terminal/Line.ts';
import { spendingLines, spentByStage } from '../renderSpending.ts';

type Step = Parameters<typeof spentByStage>[0][number];

const NOTHING = { tokensIn: 0, tokensOut: 0, costUsd: 0, calls: 0, requests: 0, unpriced: 0 };

function step(task: string | null, node: string, name: string, cost: Partial<Step['cost']>): Step {
  const at = {
    taskId: task,
    visit: 'v',
    state: 'done',
    attempt: 1,
    startedAt: '',
    finishedAt: null,
  } as const;
  return { ...at, task, node, name, cost: { ...NOTHING, ...cost } };
}

it('each stage of each task is a line: requests, tokens, cost, also where the cost is not known', () => {
  const told = { calls: 1, tokensIn: 100, tokensOut: 10 };
  const spent = spentByStage([
    step(null, 'design', 'call', { ...told, requests: 4, costUsd: 0.5 }),
    step(null, 'ask', 'f49b8a02', { ...told, requests: 1, costUsd: 0.01 }),
    step('T1', 'implement', 'green', {}),
    step('T1', 'implement', 'implement', { ...told, requests: 7, costUsd: 0.25 }),
    step('T1', 'implement', 'implement', { ...told, requests: 1, unpriced: 1 }),
    step('T1', 'implement', 'review', { requests: 1, unpriced: 1 }),
    step('T2', 'implement', 'implement', { ...told, requests: 1, unpriced: 1 }),
    step('T2', 'implement', 'document', { requests: 1, costUsd: 0.03 }),
  ]);
  const lines = spendingLines(spent);
  expect(textOfAll(lines)).toBe(
    [
      'task  stage      requests  tokens in  out  cost',
      '-     design     4         100        10   $0.50',
      '-     ask        1         100        10   $0.01',
      'T1    implement  8         200        20   at least $0.25',
      'T1    review     1         0          0    unknown',
      'T2    implement  1         100        10   unknown',
      'T2    document   1         0          0    $0.03',
    ].join('\n'),
  );
  expect(spent.find(({ task, stage }) => task === 'T1' && stage === 'implement')).toMatchObject({
    requests: 8,
    calls: 2,
  });
  expect(spendingLines(spentByStage([step('T1', 'implement', 'green', {})]))).toEqual([]);
});
