import { describe, expect, test } from 'vitest';
import { contentsOf, isInItem } from '../page/gate/contentsOf.ts';
import { gateName, gateTitle } from '../page/gate/gateWords.ts';
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
