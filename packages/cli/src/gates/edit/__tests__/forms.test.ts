import type { DraftDocument, GateEdit, PlanResult } from '@devs/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aPlan } from '../../../../../core/test/support/insides.ts';
import { withProblem } from '../editGate.ts';
import { documentsForm, planForm } from '../gateForms.ts';

type DocumentsEdit = Extract<GateEdit, { readonly documents: unknown }>;
type PlanEdit = Extract<GateEdit, { readonly plan: unknown }>;

const MARK = '9b74c9897bac';
const withMessage = (message: string) =>
  expect.objectContaining({ message: expect.stringContaining(message) });

const documents: readonly DraftDocument[] = [
  { type: 'BRIEF', title: 'Shop', content: '# Shop\n\nSell things.\n' },
  { type: 'PRD', title: 'Design: part "one" -->', content: 'Sell bread.' },
];

/** A plan as the engine has numbered it, and what its gate shows of it. */
const numbered = (tasks: number): { readonly plan: PlanResult; readonly shown: unknown } => {
  const plan = JSON.parse(JSON.stringify(aPlan(tasks)).replaceAll('"task-', '"T')) as PlanResult;
  return {
    plan,
    shown: {
      tasks: plan.epics.flatMap((epic) => epic.tasks.map(({ key }) => ({ taskId: `shop:${key.slice(1)}` }))),
    },
  };
};

describe('documents as a text to change', () => {
  it('say nothing when nothing was changed but blank lines at the ends', () => {
    const form = documentsForm(documents, MARK);
    expect(form.parse(form.text)).toBeNull();
    expect(form.parse(form.text.trimEnd())).toBeNull();
    expect(form.parse(form.text.replaceAll('\n', '\r\n'))).toBeNull();
  });

  it('become an edit of what was changed, added or retitled, and of nothing else', () => {
    const form = documentsForm(documents, MARK);
    const text = `${form.text.replace('Sell bread.', 'Sell bread only.')}<!-- devs ${MARK} UI: Pages -->\nOne page.\n`;
    expect(form.parse(text)).toEqual({
      documents: [
        { type: 'PRD', title: 'Design: part "one" -->', content: 'Sell bread only.\n' },
        { type: 'UI', title: 'Pages', content: 'One page.\n' },
      ],
    });
    const { documents: retitled } = form.parse(
      form.text.replace('BRIEF: Shop', 'BRIEF: Store'),
    ) as DocumentsEdit;
    expect(retitled).toEqual([{ ...documents[0], title: 'Store' }]);
  });

  it.each([
    [
      'text above the first document',
      (text: string) => `Hello\n${text}`,
      'Line 1: this text is above the first marked line',
    ],
    [
      'a form of another version',
      (text: string) => text.replace(MARK, '0'.repeat(12)),
      'Line 2: this text was made from another version',
    ],
    [
      'one document twice',
      (text: string) => `${text}<!-- devs ${MARK} PRD: Again -->\n`,
      'document PRD is already defined above',
    ],
  ])('are refused for %s', (_what, change, message) => {
    const form = documentsForm(documents, MARK);
    expect(() => form.parse(change(form.text))).toThrow(withMessage(message));
  });

  it('come back as they are, whatever names and words they have', () => {
    const name = fc.string({
      minLength: 1,
      unit: fc.constantFrom('a', 'B', ':', '"', '\\', ' ', '\n', '-->', '#'),
    });
    const content = fc.string({ unit: fc.constantFrom('a', '\n', ' ', '<!--', '-->', '"') });
    const document = fc.record({ type: name, title: name, content }, { noNullPrototype: true });
    const unique = fc.uniqueArray(document, { selector: ({ type }) => type, minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(unique, (drafts) => {
        const form = documentsForm(drafts, MARK);
        expect(form.parse(form.text)).toBeNull();
        const changed = drafts.map((draft, index) =>
          index === 0 ? { ...draft, content: 'changed\n' } : draft,
        );
        expect(form.parse(documentsForm(changed, MARK).text)).toEqual({ documents: changed.slice(0, 1) });
      }),
    );
  });
});

describe('a plan as a text to change', () => {
  it('says nothing when nothing was changed', () => {
    const { plan, shown } = numbered(3);
    const form = planForm(plan, shown, MARK);
    expect(form.parse(form.text)).toBeNull();
  });

  it('becomes the whole plan when something was', () => {
    const { plan, shown } = numbered(2);
    const form = planForm(plan, shown, MARK);
    const edited = form.parse(form.text.replace('name: Task 2', 'name: Labels')) as PlanEdit;
    expect(edited.plan.epics[0]?.tasks.map(({ key, name }) => [key, name])).toEqual([
      ['T1', 'Task 1'],
      ['T2', 'Labels'],
    ]);
  });

  it('takes a new task by a word, with what it needs and no more', () => {
    const { plan, shown } = numbered(1);
    const form = planForm(plan, shown, MARK);
    const { plan: edited } = form.parse(
      `${form.text}      - { task: labels, name: Labels, after: [T1] }\n`,
    ) as PlanEdit;
    expect(edited.epics[0]?.tasks[1]).toEqual({
      key: 'labels',
      name: 'Labels',
      description: '',
      dependsOn: ['T1'],
      requirements: [],
      acceptanceCriteria: [],
    });
  });

  it.each([
    ['no YAML', 'name: Task 1', 'name: "Task 1', 'Line '],
    ['a field that does not exist', 'name: Task 1', 'nam: Task 1', 'Line 14: epics.0.tasks.0'],
    ['a form of another version', MARK, 'ffffffffffff', 'Line 6: this text was made from another version'],
    ['a cycle', 'after: []', 'after: [ T2 ]', 'cycle T1 → T2 → T1'],
    ['a number nobody issued', 'task: T2', 'task: T7', '"T7" is no task of this plan'],
  ])('is refused for %s', (_what, from, to, message) => {
    const { plan, shown } = numbered(2);
    const form = planForm(plan, shown, MARK);
    expect(form.text).toContain(from);
    expect(() => form.parse(form.text.replace(from, to))).toThrow(withMessage(message));
  });

  it('comes back as it is, whatever words it has', () => {
    const words = fc.string({
      unit: fc.constantFrom('a', ':', '#', '-', '\n', '"', "'", ' ', '|', 'yes', '{'),
    });
    fc.assert(
      fc.property(words, fc.oneof(words, fc.constant(' \n')), (name, description) => {
        const { plan, shown } = numbered(1);
        const spelled = JSON.parse(JSON.stringify(plan)) as {
          epics: { name: string; tasks: { description: string }[] }[];
        };
        for (const epic of spelled.epics) {
          epic.name = name;
          for (const task of epic.tasks) task.description = description;
        }
        const form = planForm(spelled as unknown as PlanResult, shown, MARK);
        expect(form.parse(form.text)).toBeNull();
      }),
    );
  });
});

describe('a problem', () => {
  it('takes the first line of a form, so that the others keep their numbers', () => {
    const { plan, shown } = numbered(1);
    for (const form of [planForm(plan, shown, MARK), documentsForm(documents, MARK)]) {
      const once = withProblem(form, form.text, 'Line 3: no.');
      expect(once.split('\n')).toHaveLength(form.text.split('\n').length);
      expect(form.parse(withProblem(form, once, 'Line 4: no.'))).toBeNull();
    }
  });
});

describe('the kind of a task in the text of a plan', () => {
  it('is shown where there is one, can be given, and is refused with words where it does not fit', () => {
    const { plan, shown } = numbered(2);
    const form = planForm(plan, shown, MARK);
    const kinds = (kind: string): string =>
      form.text.replace('name: Task 1\n', `name: Task 1\n        ${kind}\n`);
    const { plan: edited } = form.parse(
      kinds('kind: checked-by\n        checked by: npm run docs'),
    ) as PlanEdit;
    expect(edited.epics[0]?.tasks[0]).toMatchObject({ kind: 'checked-by', checkedBy: 'npm run docs' });
    expect(planForm(edited, shown, MARK).text).toContain('checked by: npm run docs');
    expect(planForm(edited, shown, MARK).parse(planForm(edited, shown, MARK).text)).toBeNull();
    expect(form.parse(kinds('kind: test-first'))).toBeNull();
    expect(() => form.parse(kinds('kind: checked-by'))).toThrow('does not say what');
    expect(() => form.parse(kinds('checked by: npm test'))).toThrow('is not of the kind checked-by');
    expect(() => form.parse(kinds('kind: checked-by\n        checked by: a | b'))).toThrow(
      'no command without a shell',
    );
  });
});
