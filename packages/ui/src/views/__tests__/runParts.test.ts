import type { ClosedGate, EventName, Gate, LogEntry, Run } from '@devs/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReadableRun } from '../../state/RunsPlace.ts';
import { evidenceView } from '../evidenceView.ts';
import { type LogQuery, logView } from '../logView.ts';
import { spendingView } from '../runView.ts';
import { timelineView } from '../timelineView.ts';
import { valuesView } from '../valuesView.ts';

type StepView = Awaited<ReturnType<Run['steps']>>[number];

const FREE = { tokensIn: 0, tokensOut: 0, costUsd: 0, calls: 0, requests: 0, unpriced: 0 };

const stepAt = (from: number, to: number | null, rest: Partial<StepView> = {}): StepView => ({
  ...{ node: 'implement', name: 'implement', task: 'T1', taskId: 'r:1', visit: 'v', attempt: 1 },
  state: to === null ? 'begun' : 'done',
  startedAt: new Date(from).toISOString(),
  finishedAt: to === null ? null : new Date(to).toISOString(),
  cost: FREE,
  ...rest,
});

/** A log of so many lines, read as the engine reads one. */
function aLog(length: number, lineOf: (seq: number) => Partial<LogEntry> = () => ({})) {
  const entries = Array.from({ length }, (_, at): LogEntry => {
    const line = { seq: at + 1, at: '', name: 'NODE_STARTED', taskId: null, payload: {} };
    return { ...line, ...lineOf(at + 1) };
  });
  let read = 0;
  const log: ReadableRun['log'] = async ({ beforeSeq = 0, limit = 1_000 } = {}) => {
    const page = entries.filter(({ seq }) => seq < beforeSeq).slice(-limit);
    read += page.length;
    return page;
  };
  return { run: { log }, read: () => read };
}

describe('spending', () => {
  test('by stage and by task, it adds up to the same', () => {
    const figure = fc.nat(1_000);
    const cost = fc.record({
      tokensIn: figure,
      tokensOut: figure,
      costUsd: figure,
      calls: fc.nat(1),
      unpriced: fc.nat(1),
      requests: fc.nat(9),
    });
    const steps = fc.array(
      fc
        .tuple(cost, fc.constantFrom('design', 'implement'), fc.constantFrom('T1', 'T2', null))
        .map(([own, name, task]) => stepAt(0, 1, { cost: own, name, task })),
    );
    fc.assert(
      fc.property(steps, (all) => {
        const { stages, tasks } = spendingView(all);
        for (const figureName of [
          'tokensIn',
          'tokensOut',
          'costUsd',
          'calls',
          'requests',
          'unpriced',
        ] as const) {
          const whole = all.reduce((sum, each) => sum + each.cost[figureName], 0);
          expect(stages.reduce((sum, each) => sum + each.cost[figureName], 0)).toBe(whole);
          expect(tasks.reduce((sum, each) => sum + each.cost[figureName], 0)).toBe(whole);
        }
        const dollars = stages.map((each) => each.cost.costUsd);
        expect(dollars).toEqual(dollars.toSorted((a, b) => b - a));
      }),
    );
  });

  test('what used nothing has no row', () => {
    expect(spendingView([stepAt(0, 1)])).toEqual({ stages: [], tasks: [] });
  });
});

describe('a timeline', () => {
  const tasks = [
    { taskId: 'r:1', label: 'T1', name: 'One', status: 'completed', gitHash: null },
    { taskId: 'r:2', label: 'T2', name: 'Two', status: 'pending', gitHash: null },
  ] as const;
  const gate = (openedAt: number, rest: Partial<ClosedGate> = {}): ClosedGate => ({
    ...{ sessionId: 's', threadId: 'r', kind: 'review', taskId: 'r:1', artifactHash: '', message: '' },
    ...{ artifact: null, openedAt: new Date(openedAt).toISOString(), status: 'resumed', decision: null },
    ...{ principal: null, decidedAt: null },
    ...rest,
  });

  test('has a row for the run and for each task that took time, each with its waits for people', () => {
    const view = timelineView(
      {
        tasks,
        isDriven: true,
        steps: [stepAt(1_000, 2_000, { task: null, name: 'design' }), stepAt(5_000, 9_000, { attempt: 2 })],
        gates: [gate(10_000, { taskId: 'r', artifact: { taskIds: ['r:1'] } })],
        past: [
          gate(2_000, { decidedAt: new Date(5_000).toISOString(), principal: 'human:ada' }),
          gate(2_000, { decidedAt: new Date(5_000).toISOString(), principal: 'policy:auto' }),
          gate(3_000),
          gate(1_000, {
            ...{ taskId: 'r', kind: 'dag_approval', decidedAt: new Date(1_500).toISOString() },
            principal: 'human:ada',
          }),
        ],
      },
      12_000,
    );
    expect(view).toEqual({
      from: new Date(1_000).toISOString(),
      length: 11_000,
      rows: [
        {
          label: 'run',
          name: '',
          bars: [
            { kind: 'done', name: 'design', attempt: 1, start: 0, end: 1_000 },
            { kind: 'waiting', name: 'Plan', attempt: 1, start: 0, end: 500 },
          ],
        },
        {
          label: 'T1',
          name: 'One',
          bars: [
            { kind: 'waiting', name: 'Code', attempt: 1, start: 1_000, end: 4_000 },
            { kind: 'done', name: 'implement', attempt: 2, start: 4_000, end: 8_000 },
            { kind: 'waiting', name: 'Code', attempt: 1, start: 9_000, end: 11_000 },
          ],
        },
      ],
    });
  });

  test('what was begun goes on for as long as somebody drives the run, and is a point after', () => {
    const parts = { tasks, gates: [], past: [], steps: [stepAt(1_000, null)] };
    expect(timelineView({ ...parts, isDriven: true }, 4_000)).toMatchObject({ length: 3_000 });
    expect(timelineView({ ...parts, isDriven: false }, 4_000)).toMatchObject({ length: 0 });
    expect(timelineView({ ...parts, steps: [], isDriven: true }, 4_000)).toBeNull();
  });

  test('a clock that was set back makes no bar of less than nothing, and a task of an earlier plan is of the run', () => {
    const steps = [stepAt(5_000, 1_000, { task: 'T9' })];
    expect(timelineView({ tasks, gates: [], past: [], steps, isDriven: false }, 9_000)?.rows).toEqual([
      { label: 'run', name: '', bars: [{ kind: 'done', name: 'implement', attempt: 1, start: 0, end: 0 }] },
    ]);
  });
});

describe('the log', () => {
  test('is its end, and what is before it page by page, with nothing left out', async () => {
    const { run } = aLog(1_250);
    const newest = await logView(run, {});
    expect(newest.entries.at(-1)?.seq).toBe(1_250);
    const seqs: number[] = [];
    for (let view = newest; ; ) {
      seqs.unshift(...view.entries.map(({ seq }) => seq));
      if (view.earlier === null) break;
      view = await logView(run, { before: view.earlier });
    }
    expect(seqs).toEqual(Array.from({ length: 1_250 }, (_, at) => at + 1));
  });

  test.for<[LogQuery, readonly number[]]>([
    [{ task: 'T2' }, [2]],
    [{ kind: 'people' }, [3]],
    [{ kind: 'guards' }, [4]],
    [{ kind: 'tasks' }, [2]],
    [{ kind: 'work' }, [1]],
    [{ text: 'ADA' }, [3]],
    [{ text: 'nowhere' }, []],
    [{ kind: 'work', task: 'T2' }, []],
  ])('is filtered by %j', async ([query, wanted]) => {
    const names: readonly EventName[] = ['NODE_STARTED', 'TASK_COMPLETED', 'GATE_SHOWN', 'GUARD_TRIPPED'];
    const { run } = aLog(4, (seq) => ({
      name: names[seq - 1] ?? '',
      taskId: seq === 2 ? 'r:2' : null,
      payload: seq === 3 ? { principal: 'human:ada' } : {},
    }));
    expect((await logView(run, query)).entries.map(({ seq }) => seq)).toEqual(wanted);
  });

  test('a word that is nowhere in a long log is looked for in a part of it at a time', async () => {
    const { run, read } = aLog(30_000);
    const { entries, earlier } = await logView(run, { text: 'nowhere' });
    expect([entries, read(), earlier]).toEqual([[], 20_000, 10_001]);
    expect(await logView(run, { text: 'nowhere', before: 10_001 })).toEqual({ entries: [], earlier: null });
  });
});

describe('evidence', () => {
  const of = (kind: Gate['kind'], artifact: unknown) => evidenceView({ kind, artifact });

  test('of a task that is stuck: score and parts, turns, what was tried, what was said', () => {
    const entropy = { score: 0.8, parts: [{ part: 'same_error', share: 0.8, evidence: 'twice the same' }] };
    const strategies = [{ strategy: 'Smaller steps', reason: 'it was too much' }];
    const known = { guidance: ['Try X.'], errors: ['No.'], lastObservation: 'red' };
    const evidence = of('task_failure', {
      ...{ reason: 'entropy_limit', turns: 9, attempts: 3, entropy, strategies },
      ...known,
    });
    expect(evidence).toMatchObject({
      what: 'Stopped: it keeps repeating itself.',
      meters: [
        { name: 'repetition', level: 0.8, unit: 'score' },
        { name: 'turns', level: 9, limit: 10 },
        { name: 'attempts', level: 3, limit: null },
      ],
      shares: entropy.parts,
      tried: [{ strategy: 'As planned' }, { strategy: 'Smaller steps', because: 'it was too much' }],
      said: ['Try X.'],
      errors: ['No.'],
      seenLast: 'red',
    });
  });

  test('of a budget: each limit with what is spent, held back and asked for', () => {
    const limits = [
      { taskId: null, measure: 'usd', limit: 5, spent: 4, reserved: 0.5, next: 1 },
      { taskId: 'r:1', measure: 'calls', limit: 3, spent: 3, reserved: 0, next: 1 },
      { taskId: null, run: 'above', measure: 'ms', limit: 1, spent: 1, reserved: 0, next: 0 },
    ];
    expect(of('budget', { node: 'implement', step: 'implement', limits })).toMatchObject({
      what: 'Blocked call: implement of implement.',
      meters: [
        { name: 'usd of the run', level: 4, limit: 5, reserved: 0.5, next: 1, unit: 'usd' },
        { name: 'calls of the task', level: 3, limit: 3, unit: 'calls' },
        { name: 'ms of the run above above', unit: 'ms' },
      ],
    });
  });

  test('of depth, and none of a gate that no guard has opened or of a form that is not known', () => {
    expect(of('recursion_limit', { depth: 25, limit: 25 })?.meters).toMatchObject([{ level: 25, limit: 25 }]);
    expect(of('recursion_limit', { reason: null })).toMatchObject({
      what: 'Stopped: no progress.',
    });
    expect(of('task_failure', { reason: 'own words' })).toMatchObject({ what: 'Stopped: own words.' });
    expect(of('budget', { limits: 'none' })?.meters).toEqual([]);
    expect([of('design_approval', {}), of('budget', 'text'), of('task_failure', null)]).toEqual([
      null,
      null,
      null,
    ]);
  });
});

describe('values at a checkpoint', () => {
  test('what has changed comes first, with what it was; long ones are cut', () => {
    const { values } = valuesView({
      checkpointId: 'c',
      values: { a: 1, b: 'x'.repeat(20_001), c: ['new'], e: null },
      before: { b: 'y', d: 2 },
      changed: ['b', 'c', 'd'],
    });
    expect(values.map(({ name, before, isChanged }) => [name, before, isChanged])).toEqual([
      ['b', 'y', true],
      ['c', null, true],
      ['d', '2', true],
      ['a', null, false],
      ['e', null, false],
    ]);
    expect(values[0]?.text).toMatch(/^x{20000}…\n\(of 20001 characters\)$/);
    expect(values.map(({ text }) => text).slice(1)).toEqual(['[\n  "new"\n]', '', '1', 'null']);
  });
});
