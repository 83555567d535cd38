import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import type { Entry } from './ledger.ts';

const plan = { names: ['a 1', 'a 2', 'b 1'], branchOf: (name: string) => name.slice(0, 1) };
const driving = (pid: number): Entry => ({ is: 'driving', pid, run: 'r' });
const begun = (pid: number, name: string, nonce: string): Entry => ({
  is: 'begun',
  ...{ at: 0, run: 'r', pid, name, nonce },
});
const killed = (pid: number): Entry => ({ is: 'killed', pid });
const FIRST = [driving(1), begun(1, 'a 1', '1'), begun(1, 'b 1', '1')];
const LAST = [begun(2, 'a 2', '2')];

test('a call in flight may be made again, one of each branch for a kill', () => {
  const entries = [...FIRST, killed(1), driving(2), begun(2, 'a 1', '2'), begun(2, 'b 1', '2'), ...LAST];
  const ended = { run: 'r', status: 'completed', calls: ['a 1=2', 'a 2=2', 'b 1=2'] };
  expect(judge(entries, [ended], plan)).toEqual({ begun: 5, again: 2, takenOver: 1, violations: [] });
});

test('whoever says late that he has a run, and makes no call, takes it from nobody', () => {
  const entries: Entry[] = [driving(2), driving(1), begun(2, 'a 1', '1'), begun(2, 'b 1', '1'), ...LAST];
  entries.push({ is: 'lost', pid: 1, run: 'r' });
  const ended = { run: 'r', status: 'completed', calls: ['a 1=1', 'a 2=2', 'b 1=1'] };
  expect(judge(entries, [ended], plan).violations).toEqual([]);
});

const WHOLE = ['a 1=1', 'a 2=2', 'b 1=1'];
test.each<readonly [string, readonly Entry[], readonly string[]]>([
  ['is not recorded', [...FIRST, killed(1), driving(2), ...LAST], ['a 1=1', 'a 2=2']],
  ['was never made', [...FIRST, killed(1), driving(2), ...LAST], ['a 1=1', 'a 2=2', 'b 1=3']],
  ['is recorded and made again', [...FIRST, killed(1), driving(2), begun(2, 'a 1', '2'), ...LAST], WHOLE],
  [
    'is made again, and nothing had befallen it',
    [...FIRST, begun(1, 'a 1', '2'), killed(1), driving(2), ...LAST],
    ['a 1=2', 'a 2=2', 'b 1=1'],
  ],
  [
    'is made by who has the run no more',
    [...FIRST, driving(2), begun(1, 'a 2', '1'), { is: 'lost', pid: 1, run: 'r' }, ...LAST],
    WHOLE,
  ],
  [
    'is made again, and another one of its branch for the same kill',
    [...FIRST, begun(1, 'a 2', '1'), killed(1), driving(2), begun(2, 'a 1', '2'), ...LAST],
    ['a 1=2', 'a 2=2', 'b 1=1'],
  ],
])('a call that %s is told', (_, entries, calls) => {
  expect(judge(entries, [{ run: 'r', status: 'completed', calls }], plan).violations).toHaveLength(1);
});
