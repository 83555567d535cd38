import { describe, expect, test } from 'vitest';
import { contentsOf, isInItem } from '../page/gate/contentsOf.ts';
import { gateName, gateTitle } from '../page/gate/gateWords.ts';
import { nextSteps, wayBack } from '../page/gate/nextSteps.ts';
import { formatNumbered } from '../page/words.ts';
import { gateFacts } from '../src/views/gateFacts.ts';

const review = (names: readonly string[]) => ({
  epicName: 'Slugs',
  tasks: names.map((name, at) => ({
    ...{ taskId: `slug:task:${at + 1}`, name },
    criteria: [
      { criterion: 'A', shownBy: 'a.test.js' },
      { criterion: 'B', shownBy: at === 0 ? null : 'b.test.js' },
    ],
  })),
  range: { to: 'c'.repeat(40), files: [], total: { files: 4, added: 206, removed: 7 } },
  check: {
    ...{ command: 'npm test', passed: true, output: '' },
    parts: [
      { name: 'test', passed: true },
      { name: 'lines', passed: true },
    ],
    cases: { passed: 37, failed: 0, skipped: 0 },
  },
  rejections: [],
});

const gate = (kind: string, artifact: unknown, taskId = 'slug') =>
  ({ kind, artifact, taskId, about: 'Code', message: '', title: 'Slugs' }) as never;

const TASKS = [
  { taskId: 'slug:task:1', label: 'T1', name: 'Turn a text', status: 'completed' },
  { taskId: 'slug:task:2', label: 'T2', name: 'Spell letters', status: 'pending' },
] as never;

const DESIGN = {
  documents: [
    { type: 'PRD', title: 'Product', content: 'Intro\n# Goal\n\n```\n# no\n```\n## Not\n', version: 1 },
  ],
};

describe('the words of a gate', () => {
  test('its title asks or says one thing, with the right number', () => {
    expect(gateTitle(gate('review', review(['Turn a text'])))).toBe('T1 Turn a text');
    expect(gateTitle(gate('review', review(['Turn a text', 'Spell'])))).toBe('Slugs');
    const plan = { requirements: [], epics: [], tasks: [{ taskId: 'a:1' }] };
    expect(gateTitle(gate('dag_approval', plan))).toBe('Build “Slugs” in 1 task?');
    expect(gateTitle(gate('task_failure', {}, 'slug:task:2'))).toBe('T2 is stuck');
    expect(gateTitle({ ...(gate('node_gate', 'x') as object), message: 'Publish?' } as never)).toBe(
      'Publish?',
    );
    expect(gateName(gate('review', review(['Turn a text'])))).toBe('T1 code');
    expect([1, 2, 0].map((count) => formatNumbered(count, 'file'))).toEqual(['1 file', '2 files', '0 files']);
  });

  test('a row tells size, checks with cases, criteria, and what is weak last', () => {
    const { asks, facts, size } = gateFacts(gate('review', review(['Turn a text'])), TASKS);
    expect([asks, size]).toEqual(['T1 Turn a text', { added: 206, removed: 7 }]);
    expect(facts).toEqual([
      { text: '4 files', tone: 'plain' },
      { text: '2 checks, 37 cases', tone: 'ok' },
      { text: '1 of 2 criteria without evidence', tone: 'warning' },
    ]);
    const failed = { ...review(['T']), check: { command: 'x', passed: false, output: '' } };
    expect(gateFacts(gate('review', failed), TASKS).facts[1]).toEqual({
      text: '1 check: failed',
      tone: 'bad',
    });
    expect(gateFacts(gate('review', { ...failed, check: null }), TASKS).facts[1]?.tone).toBe('warning');
    expect(gateFacts(gate('task_failure', { attempts: 3 }, 'slug:task:1'), TASKS)).toMatchObject({
      asks: 'T1 Turn a text',
      facts: [{ text: 'tried 3 times' }, { text: '1 task waits behind it' }],
    });
  });

  test('what is no artifact of a known kind is a row all the same', () => {
    for (const artifact of [null, 'text', 3, [], { tasks: 'x' }])
      expect(gateFacts(gate('of_another_release', artifact), TASKS)).toMatchObject({
        asks: 'Go on?',
        size: null,
      });
  });

  test('contents are the headings of a document, not those of code in it', () => {
    const [group] = contentsOf(DESIGN);
    expect(group?.items.map(({ words, from, until }) => [words, from, until])).toEqual([
      ['Goal', 2, 7],
      ['Not', 7, null],
    ]);
    const [goal] = group?.items ?? [];
    expect([1, 2, 6, 7].map((line) => goal !== undefined && isInItem(goal, line))).toEqual([
      ...[false, true, true, false],
    ]);
    expect(contentsOf('x')).toEqual([]);
  });
});

describe('comments of the version before', () => {
  const after = (kind: string, artifact: unknown, comments: { answered: number; total: number }) =>
    ({ ...(gate(kind, artifact) as object), comments }) as never;

  test('are counted in the row, and make room for themselves', () => {
    const weak = { ...review(['a', 'b']), check: null };
    const losses = { ...weak.tasks[0], losses: [{}] };
    const { facts } = gateFacts(
      after('review', { ...weak, tasks: [losses, weak.tasks[1]] }, { answered: 2, total: 2 }),
      TASKS,
    );
    expect(facts).toHaveLength(4);
    expect(facts[0]).toEqual({ text: '2 of 2 comments answered', tone: 'ok' });
    expect(facts.at(-1)).toEqual({ text: '1 warning about tests', tone: 'warning' });
    expect(facts.map(({ text }) => text)).not.toContain('4 files');
    expect(gateFacts(after('design_approval', DESIGN, { answered: 0, total: 1 }), TASKS).facts[0]).toEqual({
      text: '0 of 1 comment answered',
      tone: 'warning',
    });
  });
});

describe('after a decision', () => {
  const decided = (kind: string, artifact: unknown, decision: unknown) =>
    ({ ...(gate(kind, artifact) as object), closed: { decision } }) as never;
  const run = (rest: object = {}) =>
    ({
      driver: null,
      gates: [],
      status: 'waiting',
      tasks: TASKS,
      branch: null,
      commits: [],
      ...rest,
    }) as never;
  const told = (view: never, of: never): readonly string[] =>
    nextSteps(view, of).map(({ words, state }) => `${words}: ${state}`);

  test('the way to the end of the run is told, and whether anybody is on it', () => {
    const code = decided('review', review(['Turn a text']), { approved: true });
    expect(told(code, run())).toEqual([
      'T1 approved: done',
      'T2 Spell letters: waits',
      'The run ends: to come',
    ]);
    expect(told(code, run({ driver: 'ada' }))[1]).toBe('T2 Spell letters: works');
    expect(nextSteps(code, run())[0]?.detail).toBe('commit cccccccc stays as it is');
    const plan = decided('dag_approval', {}, { approved: true });
    const tasks = [1, 2, 3].map((n) => ({ label: `T${n}`, name: 'x', status: 'pending', taskId: `${n}` }));
    expect(told(plan, run({ tasks }))).toEqual([
      'Plan approved: done',
      'T1 x: waits',
      '2 more tasks: to come',
      'The run ends: to come',
    ]);
    expect(told(decided('design_approval', {}, { approved: false }), run())).toEqual([
      'Design sent back: done',
      'A new version is written: waits',
      'You are asked again: to come',
    ]);
    const back = decided('review', review(['a', 'b']), { approved: false, tasks: ['T1', 'T2'] });
    expect(told(back, run())[1]).toBe('T1, T2 again: waits');
  });

  test('it ends with the branch to merge, once commits lie on it', () => {
    const code = decided('review', review(['Turn a text']), { approved: true });
    const branch = { name: 'devs/slug', merge: 'git merge devs/slug' };
    const steps = nextSteps(code, run({ branch, commits: [{}, {}] }));
    expect(steps.slice(-2)).toEqual([
      { words: 'The run ends', detail: '2 commits on devs/slug so far', state: 'to come' },
      { words: 'You merge', detail: '', command: 'git merge devs/slug', state: 'to come' },
    ]);
    const back = decided('review', review(['a']), { approved: false });
    expect(nextSteps(back, run({ branch })).at(-1)?.words).toBe('You are asked again');
  });

  test('nothing is told of a run that asks or has ended, and of answers of other kinds', () => {
    const code = decided('review', review(['Turn a text']), { approved: true });
    expect(nextSteps(code, run({ status: 'completed' }))).toEqual([]);
    expect(nextSteps(code, run({ gates: [{}] }))).toEqual([]);
    expect(nextSteps(decided('budget', {}, { action: 'raise' }), run())).toEqual([]);
    expect(nextSteps(decided('node_gate', 'x', { approved: true }), run())).toEqual([]);
  });

  test('the run can go back to the task before the code that was approved, where there is one', () => {
    const second = { ...review(['b']), tasks: [{ ...review(['b']).tasks[0], taskId: 'slug:task:2' }] };
    expect(wayBack(decided('review', second, { approved: true }), TASKS)).toBe('T1');
    expect(wayBack(decided('review', second, { approved: false }), TASKS)).toBeNull();
    expect(wayBack(decided('review', review(['a']), { approved: true }), TASKS)).toBeNull();
    expect(wayBack(decided('dag_approval', {}, { approved: true }), TASKS)).toBeNull();
  });
});
