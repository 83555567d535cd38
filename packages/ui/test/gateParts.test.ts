import type { PlanResult } from '@devs/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DiffLine, splitRows } from '../page/diff/diffLines.ts';
import { blockOf, lineAnchor, lineNow, selectionAnchor } from '../page/gate/anchors.ts';
import { buildAnswer, widgetOf } from '../page/gate/buildAnswer.ts';
import { addTask, changeTask, dropTask, moveTask, splitList } from '../page/gate/planEdits.ts';
import { versionFiles } from '../page/gate/versionFiles.ts';
import type { Draft } from '../src/drafts/Draft.ts';
import { choiceButtons } from '../src/views/choices.ts';

const TEXT = '# Design\n\nTwo **tables**.\nOne file.\nTwo **tables**.';

describe('anchors', () => {
  test('a line is quoted as it is, and a blank one not at all', () => {
    expect(lineAnchor('TAS', 4, 'One file.')).toEqual({ in: 'TAS', quote: 'One file.', line: 4 });
    expect(lineAnchor('TAS', 2, '  ')).toBeNull();
    expect(lineAnchor('TAS', 1, 'x'.repeat(5_000))?.quote).toHaveLength(1_000);
  });

  test('a selection is quoted where it stands so, else the first line it is in', () => {
    const at = { place: 'TAS', text: TEXT };
    expect(selectionAnchor(at, 'file', { from: 3, to: 5 })).toEqual({ in: 'TAS', quote: 'file', line: 4 });
    expect(selectionAnchor(at, 'Two **tables**.', { from: 5, to: 5 })).toMatchObject({ line: 5 });
    expect(selectionAnchor(at, 'Two tables.', { from: 2, to: 4 })).toEqual({
      ...{ in: 'TAS', quote: 'Two **tables**.', line: 3 },
    });
    expect(selectionAnchor(at, 'file.\nTwo', { from: 1, to: 5 })).toMatchObject({ line: 4 });
    expect(selectionAnchor(at, 'x', { from: 2, to: 2 })).toBeNull();
  });

  test('whatever is selected of a text, the quote stands on its line', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', ' ', '\n'), { minLength: 1 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (all, one, other) => {
        const [from, to] = [one % all.length, other % all.length].toSorted((a, b) => a - b) as [
          number,
          number,
        ];
        const lines = {
          from: all.slice(0, from).split('\n').length,
          to: all.slice(0, to).split('\n').length,
        };
        const anchor = selectionAnchor({ place: 'x', text: all }, all.slice(from, to), lines);
        if (anchor === null) return;
        const below = all.split('\n').slice(anchor.line - 1);
        const at = below.join('\n').indexOf(anchor.quote);
        expect(at).toBeGreaterThanOrEqual(0);
        expect(at).toBeLessThanOrEqual(below[0]?.length ?? 0);
      }),
    );
  });

  test('a comment on the version before stands beside its quote, nearest to where it was', () => {
    expect(lineNow({ quote: 'Two **tables**.', line: 5 }, TEXT)).toBe(5);
    expect(lineNow({ quote: 'Two **tables**.', line: 2 }, TEXT)).toBe(3);
    expect(lineNow({ quote: 'gone', line: 4 }, TEXT)).toBe(4);
    expect(lineNow({ quote: 'gone', line: 40 }, TEXT)).toBe(5);
    expect([blockOf([1, 3, 7], 6), blockOf([3, 7], 1), blockOf([], 4)]).toEqual([3, 3, 4]);
  });
});

const draft = (patch: Partial<Draft> = {}): Draft => ({
  at: 1,
  words: '',
  comments: [],
  fields: {},
  ...patch,
});

/** What a choice sends, or says that is missing. */
function given(
  gate: Parameters<typeof choiceButtons>[0] & { readonly responseSchema?: unknown },
  name: string,
  written: Partial<Draft>,
) {
  const choice = choiceButtons(gate).find((each) => each.name === name);
  if (choice === undefined) throw new Error(`No ${name}.`);
  const found = buildAnswer(choice, draft(written), gate);
  return found.kind === 'answer' ? found.answer : found.words;
}

describe('answers', () => {
  test('a no says words, comments, or both; empty comments are not sent, and a yes has none', () => {
    const design = { kind: 'design_approval', artifact: { documents: [] } } as const;
    const comment = { in: 'TAS', quote: 'x', line: 1, text: 'No.' };
    expect(given(design, 'reject', {})).toMatch(/^Describe what/);
    expect(given(design, 'reject', { comments: [{ ...comment, text: ' ' }] })).toMatch(/^Describe what/);
    const comments = [comment, { ...comment, text: '' }];
    expect(given(design, 'reject', { comments })).toEqual({ approved: false, comments: [comment] });
    expect(given(design, 'reject', { words: 'No.' })).toEqual({ approved: false, feedback: 'No.' });
    expect(given(design, 'approve', { words: 'x', comments })).toEqual({ approved: true });
  });

  test('tasks and failures are those that were ticked, and none is left to the engine', () => {
    const review = { kind: 'review', artifact: { taskIds: ['a:1', 'a:2'] } } as const;
    const words = 'No.';
    expect(given(review, 'reject', { words, fields: { 'tasks T2': 'on' } })).toMatchObject({ tasks: ['T2'] });
    expect(given(review, 'reject', { words })).toEqual({ approved: false, feedback: 'No.' });
    const baseline = { kind: 'baseline', artifact: { failing: ['x', 'y'] } } as const;
    expect(given(baseline, 'accept', { fields: { 'failures y': 'on' } })).toEqual({
      ...{ action: 'accept', failures: ['y'] },
    });
  });

  test('a sum is what is proposed until another is typed, in minutes for a time', () => {
    const limits = [
      { measure: 'usd', limit: 2 },
      { measure: 'ms', limit: 90_000 },
    ];
    const budget = { kind: 'budget', artifact: { limits } } as const;
    expect(given(budget, 'raise', {})).toEqual({ action: 'raise', usd: 2, ms: 120_000 });
    expect(given(budget, 'raise', { fields: { 'raise usd': '0.5', 'raise ms': '' } })).toEqual({
      ...{ action: 'raise', usd: 0.5 },
    });
    expect(given(budget, 'raise', { fields: { 'raise usd': 'much' } })).toMatch(
      /^much is not a valid amount/,
    );
    expect(given(budget, 'raise', { fields: { 'raise usd': '-1' } })).toMatch(/^-1 is not a valid amount/);
    expect(given(budget, 'raise', { fields: { 'raise usd': '', 'raise ms': '' } })).toBe('Enter an amount.');
  });

  test('a value is what its schema wants; false, 0 and null are values, and what is no JSON is told', () => {
    const value = (text: string, responseSchema?: unknown) =>
      given({ kind: 'interrupt', artifact: null, responseSchema }, 'value', { fields: { value: text } });
    expect(value('{ "to": "ada" }')).toEqual({ value: { to: 'ada' } });
    expect([value('false'), value('0'), value('null')]).toEqual([
      ...[{ value: false }, { value: 0 }, { value: null }],
    ]);
    expect(value('yes')).toMatch(/^Invalid JSON/);
    expect(value('')).toBe('Enter a value.');
    expect(value('', { type: 'string' })).toEqual({ value: '' });
    expect(value('a b', { type: 'string' })).toEqual({ value: 'a b' });
    expect(value('true', { type: 'boolean' })).toEqual({ value: true });
    expect(value('3', { type: 'integer' })).toEqual({ value: 3 });
    expect(value('b', { type: 'string', enum: ['a', 'b'] })).toEqual({ value: 'b' });
    expect(value('', { enum: ['a'] })).toBe('Enter a value.');
    expect(widgetOf({ enum: [1, 2] })).toBe('json');
  });

  test('a version of one’s own is a text where a text is shown', () => {
    const edit = (artifact: unknown, text: string) =>
      given({ kind: 'node_gate', artifact, takes: { gate: 'g', edit: 'artifact' } }, 'version', {
        fields: { edit: text },
      });
    expect(edit('old', 'new')).toEqual({ edit: 'new' });
    expect(edit({ a: 1 }, '{"a":2}')).toEqual({ edit: { a: 2 } });
    expect(edit({ a: 1 }, '')).toBe('Enter a value.');
  });

  test('an edit sends the documents that were changed, or the whole plan', () => {
    const design = { kind: 'design_approval', artifact: { documents: [] } } as const;
    const document = { type: 'PRD', title: 'T', content: 'Mine.' };
    const fields = { 'document PRD': JSON.stringify(document), 'document TAS': '' };
    expect(given(design, 'edit', { fields })).toEqual({ action: 'edit', documents: [document] });
    expect(given(design, 'edit', {})).toBe('Nothing has changed yet.');
    expect(given(design, 'edit', { fields: { 'document PRD': '{' } })).toBe('Nothing has changed yet.');
    const dag = { kind: 'dag_approval', artifact: null } as const;
    expect(given(dag, 'edit', { fields: { plan: '{"epics":[]}' } })).toEqual({
      ...{ action: 'edit', plan: { epics: [] } },
    });
  });
});

describe('edits of a plan', () => {
  const task = (key: string, dependsOn: readonly string[] = []) => ({
    ...{ key, name: key, description: '', dependsOn, requirements: [], acceptanceCriteria: [] },
  });
  const plan: PlanResult = {
    requirements: [],
    epics: [
      { name: 'A', description: '', tasks: [task('T1'), task('T2', ['T1'])] },
      { name: 'B', description: '', tasks: [task('T3', ['T2'])] },
    ],
  };
  const keys = ({ epics }: PlanResult) => epics.map(({ tasks }) => tasks.map(({ key }) => key));

  test('a task is dropped with whoever waits for it told so, and an epic without tasks goes', () => {
    const dropped = dropTask(plan, { epic: 0, task: 1 });
    expect(keys(dropped)).toEqual([['T1'], ['T3']]);
    expect(dropped.epics[1]?.tasks[0]?.dependsOn).toEqual([]);
    expect(keys(dropTask(plan, { epic: 1, task: 0 }))).toEqual([['T1', 'T2']]);
  });

  test('tasks change places in their epic, and no further', () => {
    expect(keys(moveTask(plan, { epic: 0, task: 0 }, 1))).toEqual([['T2', 'T1'], ['T3']]);
    expect(moveTask(plan, { epic: 0, task: 0 }, -1)).toEqual(plan);
    expect(moveTask(plan, { epic: 1, task: 0 }, 1)).toEqual(plan);
  });

  test('a new one has a key of its own, and what is typed as a list is one', () => {
    const once = addTask(plan, { epic: 0, task: 0 });
    expect(keys(addTask(once, { epic: 1, task: 0 }))).toEqual([
      ['T1', 'new-1', 'T2'],
      ['T3', 'new-2'],
    ]);
    const changed = changeTask(plan, { epic: 1, task: 0 }, { dependsOn: splitList('T1, ,T2 ', ',') });
    expect(changed.epics[1]?.tasks[0]?.dependsOn).toEqual(['T1', 'T2']);
    expect(changed.epics[0]).toEqual(plan.epics[0]);
  });
});

describe('differences', () => {
  const line = fc.constantFrom<DiffLine>(
    { kind: 'added', text: 'a' },
    { kind: 'removed', text: 'r' },
    { kind: 'same', text: 's' },
    { kind: 'place', text: '@@' },
  );

  test('side by side, each side has its lines, all of them and in their order', () => {
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const rows = splitRows(lines);
        const side = (name: 'before' | 'after') =>
          rows.map((row) => row[name]).filter((each) => each !== null);
        expect(side('before')).toEqual(lines.filter(({ kind }) => kind !== 'added'));
        expect(side('after')).toEqual(lines.filter(({ kind }) => kind !== 'removed'));
      }),
    );
  });

  const document = (type: string, content: string, title = 'T') => ({ type, title, content, version: 1 });

  test('two versions differ in the parts that do, with every changed line and where others are left out', () => {
    const same = document('PRD', 'x');
    const long = Array.from({ length: 20 }, (_, at) => `line ${at}`);
    const before = { documents: [same, document('TAS', long.join('\n')), document('OLD', 'gone')] };
    const after = { documents: [same, document('TAS', long.with(10, 'other').join('\n'))] };
    const [tas, old, ...more] = versionFiles(before, after);
    expect(more).toEqual([]);
    expect(tas).toMatchObject({ path: 'TAS', added: 1, removed: 1 });
    expect(tas?.lines.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'place …',
      ...['same line 7', 'same line 8', 'same line 9', 'removed line 10', 'added other'],
      ...['same line 11', 'same line 12', 'same line 13', 'place …'],
    ]);
    expect(tas?.lines[4]).toMatchObject({ before: 11 });
    expect(old).toMatchObject({ path: 'OLD', added: 0, removed: 1, notes: ['title: T → none'] });
    expect(
      versionFiles(before, { documents: [...before.documents.slice(0, 2), document('OLD', 'gone', 'New')] }),
    ).toMatchObject([{ path: 'OLD', added: 0, notes: ['title: T → New'] }]);
  });

  test('of a plan, what a task waits for is part of it; anything else is compared as it is printed', () => {
    const task = (dependsOn: readonly string[]) => ({
      ...{ taskId: 'a:2', epicId: 'e', name: 'N', description: 'D', dependsOn, requirementIds: ['r'] },
      acceptanceCriteria: ['C'],
    });
    const plan = (dependsOn: readonly string[]) => ({
      requirements: [{ requirementId: 'r', externalId: 'REQ-1', description: 'R' }],
      epics: [{ epicId: 'e', name: 'E', description: 'D' }],
      tasks: [task(dependsOn)],
    });
    expect(versionFiles(plan([]), plan(['a:1']))).toMatchObject([{ path: 'T2', added: 1, removed: 1 }]);
    expect(versionFiles({ a: 1 }, { a: 2 })).toMatchObject([{ path: 'the gate', added: 1 }]);
    expect(versionFiles('x', 'x')).toEqual([]);
  });
});
