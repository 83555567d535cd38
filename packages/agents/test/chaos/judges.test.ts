import { describe, expect, test } from 'vitest';
import { judgeEnd } from './judgeEnd.ts';
import { judgeFile } from './judgeFile.ts';
import { judgeGoals } from './judgeGoals.ts';
import { judgeLife } from './judgeLife.ts';
import { type FileContent, NOTHING, type Observation, type Turn } from './Observation.ts';
import type { Scenario } from './scenarios.ts';

// A harness that cannot find anything proves nothing: each of these is one fault, and must be found.

const turn = (id: string, turnType: Turn['turnType'], visit: string): Turn => ({
  id,
  turnType,
  visit,
  node: 'work',
});
const done = { key: 'k1', visit: 'v1', label: 'work/call', state: 'done', attempt: 1 } as const;
const inFlight = { key: 'k2', visit: 'v2', label: 'work/call', state: 'intent', attempt: 1 } as const;
const session = {
  id: 's1',
  kind: 'node_gate',
  status: 'resumed',
  questionKey: 'q1',
  interruptId: 'i1',
} as const;
const event = { name: 'TASK_COMPLETED', payload: { gitHash: 'c1' } };

/** One visit is finished, its gate answered and its task committed; another was killed inside a call. */
const file: FileContent = {
  ...NOTHING.file,
  checkpoints: ['p1'],
  turns: [turn('t1', 'Thought', 'v1'), turn('t2', 'Action', 'v1'), turn('t3', 'Thought', 'v2')],
  steps: [done, inFlight],
  sessions: [session],
  decisions: ['s1'],
  events: [event],
  interrupts: new Map([['i1', 'v1']]),
  outputs: new Set(['v1']),
};
const killed: Observation = {
  file,
  calls: ['k1', 'k2'],
  acknowledged: [event],
  commits: [{ sha: 'c1', content: 't1', subject: 'Task 1' }],
  killed: true,
};
const withFile = (change: Partial<FileContent>): Observation => ({ ...killed, file: { ...file, ...change } });

describe('what one file contradicts', () => {
  test('a sound one contradicts nothing', () => {
    expect(judgeFile(killed, 1)).toEqual([]);
  });

  test.for<[string, Observation, RegExp]>([
    ['damage', withFile({ integrity: 'row 3 missing' }), /integrity_check: row 3/],
    ['a broken chain of decisions', withFile({ decisionLog: 'line 2' }), /decision log: line 2/],
    ['an Action without Thought', withFile({ turns: file.turns.slice(1) }), /Action without Thought: v1/],
    ['a step without Thought', withFile({ turns: file.turns.slice(0, 2) }), /step without Thought: v2/],
    ['an output without Action', withFile({ outputs: new Set(['v1', 'v2']) }), /output without Action: v2/],
    [
      'an interrupt without session',
      withFile({ interrupts: new Map([...file.interrupts, ['i2', 'v2']]) }),
      /interrupt without session: i2/,
    ],
    [
      'two sessions for a question',
      withFile({ sessions: [session, { ...session, id: 's2', status: 'superseded' }] }),
      /two sessions ask q1/,
    ],
    ['two decisions of a session', withFile({ decisions: ['s1', 's1'] }), /s1 is decided twice/],
    ['a session decided by nobody', withFile({ decisions: [] }), /session decided by nobody: s1/],
    [
      'a decision of an open session',
      withFile({ sessions: [{ ...session, status: 'awaiting_approval' }] }),
      /decision of an open session: s1/,
    ],
    ['a completed task without commit', { ...killed, commits: [] }, /TASK_COMPLETED without its commit: c1/],
    [
      'two commits of a task',
      { ...killed, commits: [...killed.commits, { sha: 'c2', content: 't2', subject: 'Task 1' }] },
      /two commits of "Task 1"/,
    ],
  ])('%s is found', ([, observation, expected]) => {
    expect(judgeFile(observation, 1).join('\n')).toMatch(expected);
  });

  test('a session may wait for its interrupt after a kill, one per branch, and never otherwise', () => {
    const torn = withFile({ interrupts: new Map() });
    expect(judgeFile(torn, 1)).toEqual([]);
    expect(judgeFile({ ...torn, killed: false }, 1)).toEqual(['session without interrupt: s1']);
  });
});

describe('what one life of a driver did wrong', () => {
  const attempted = { ...inFlight, attempt: 2 };
  /** The driver after the kill makes the call in flight again, and only it. */
  const resumed: Observation = {
    ...withFile({ steps: [done, attempted], turns: [...file.turns, turn('t4', 'Thought', 'v2')] }),
    calls: ['k1', 'k2', 'k2'],
  };
  const after = (change: Partial<Observation>): Observation => ({ ...resumed, ...change });
  const afterWith = (change: Partial<FileContent>): Observation =>
    after({ file: { ...resumed.file, ...change } });

  test('repeating what was in flight is counted and allowed, one per branch', () => {
    expect(judgeLife(killed, resumed, 1)).toEqual({ violations: [], repeatedCalls: 1, redoneNodes: 1 });
    expect(judgeLife(killed, resumed, 0).violations).toEqual([
      '1 calls in flight were repeated: k2',
      '1 nodes redone: v2',
    ]);
  });

  test('a node that had suspended at a question is resumed, not redone', () => {
    const suspended = withFile({ interrupts: new Map([...file.interrupts, ['i2', 'v2']]) });
    expect(judgeLife(suspended, resumed, 1).redoneNodes).toBe(0);
  });

  test.for<[string, Observation, RegExp]>([
    ['a lost checkpoint', afterWith({ checkpoints: [] }), /checkpoint lost: p1/],
    ['a lost journal row', afterWith({ turns: resumed.file.turns.slice(1) }), /journal row lost: t1/],
    ['a lost step', afterWith({ steps: [attempted] }), /recorded step was lost: k1/],
    ['a lost session', afterWith({ sessions: [] }), /session lost: s1/],
    ['a lost decision', afterWith({ decisions: [] }), /decision lost: s1/],
    ['a lost commit', after({ commits: [] }), /commit lost: c1/],
    ['a lost output', afterWith({ outputs: new Set() }), /output lost: v1/],
    ['a lost acknowledged event', afterWith({ events: [] }), /acknowledged event was lost: TASK_COMPLETED/],
    [
      'an acknowledged turn without its row',
      after({ acknowledged: [{ name: 'NODE_FINISHED', payload: {} }, event, event] }),
      /acknowledged event was lost: NODE_FINISHED.*acknowledged event was lost: TASK_COMPLETED/s,
    ],
    ['a recorded call made again', after({ calls: ['k1', 'k2', 'k1'] }), /recorded call was repeated: k1/],
    ['a call made twice in one life', after({ calls: ['k1', 'k2', 'k2', 'k2'] }), /twice in one life: k2/],
    ['a call without its intent', after({ calls: ['k1', 'k2', 'k9'] }), /1 calls, 0 recorded attempts: k9/],
    [
      'a finished node that runs again',
      afterWith({ turns: [...resumed.file.turns, turn('t5', 'Thought', 'v1')] }),
      /finished node ran again: v1/,
    ],
  ])('%s is found', ([, observation, expected]) => {
    expect(judgeLife(killed, observation, 1).violations.join('\n')).toMatch(expected);
  });
});

describe('what differs at the end', () => {
  const outcome = {
    status: 'completed',
    reason: null,
    values: { at: '2026-01-01T00:00:00.000Z', n: 1 },
    commits: ['Task 1'],
    tree: 'a',
  };
  const last = withFile({ steps: [done] });
  const stops = ['at the first goal'];

  test('times do not', () => {
    const later = { ...outcome, values: { at: '2026-02-02T00:00:00.000Z', n: 1 } };
    expect(judgeEnd({ outcome: later, last, stops }, { outcome, last, stops })).toEqual([]);
  });

  test.for<[string, Partial<typeof outcome>]>([
    ['status', { status: 'failed' }],
    ['values', { values: { at: '2026-01-01T00:00:00.000Z', n: 2 } }],
    ['commit subjects', { commits: [] }],
    ['trees', { tree: 'b' }],
  ])('%s do', ([part, change]) => {
    const [difference = ''] = judgeEnd(
      { outcome: { ...outcome, ...change }, last, stops },
      { outcome, last, stops },
    );
    expect(difference).toContain(`${part} differ`);
  });

  test('commits of other content do', () => {
    const other = { ...last, commits: [{ sha: 'c1', content: 't2', subject: 'Task 1' }] };
    const [difference = ''] = judgeEnd({ outcome, last: other, stops }, { outcome, last, stops });
    expect(difference).toContain('commits differ');
  });

  test('a step without result is found', () => {
    const unfinished = { outcome, last: killed, stops };
    expect(judgeEnd(unfinished, unfinished)).toEqual(['step without result at the end: k2']);
  });

  test('where a goal stopped the run does', () => {
    const [difference = ''] = judgeEnd({ outcome, last, stops: [] }, { outcome, last, stops });
    expect(difference).toContain('stops differ');
  });
});

describe('what is wrong with the goals of a run', () => {
  const scenario = { goals: [{ until: 'dag' }] } as unknown as Scenario;
  const at = (goal: unknown, ...names: readonly string[]): Observation =>
    withFile({ goal, events: names.map((name) => ({ name, payload: {} })) });

  test('nothing before, in and after one', () => {
    const SET = 'GOAL_SET';
    for (const observation of [at(null), at({ until: 'dag' }, SET), at(null, SET, 'GOAL_REACHED')])
      expect(judgeGoals(observation, scenario)).toEqual([]);
  });

  test.for<[string, Observation, RegExp]>([
    ['one that is set twice', at(null, 'GOAL_SET', 'GOAL_SET'), /out of order: GOAL_SET, GOAL_SET/],
    [
      'one that is reached twice',
      at(null, 'GOAL_SET', 'GOAL_REACHED', 'GOAL_SET', 'GOAL_REACHED'),
      /4 events of 1 goals/,
    ],
    ['one that is forgotten', at(null, 'GOAL_SET'), /goal null in the record instead of {"until":"dag"}/],
    ['one that stays', at({ until: 'dag' }, 'GOAL_SET', 'GOAL_REACHED'), /in the record instead of null/],
  ])('%s is found', ([, observation, expected]) => {
    expect(judgeGoals(observation, scenario).join('\n')).toMatch(expected);
  });
});
