import { writeFileSync } from 'node:fs';

/** What the agents of the first week say: two tasks are worked on, and the first one's review is rejected once. */
export function writeShopRecording(file: string): void {
  write(file, 'shop', [...STAGES, ANSWER, ...FORMAT, ...FORMAT_AGAIN, ...RECEIPT]);
}

/** What they say to small work on the cart. */
export function writeSmallRecording(file: string): void {
  write(file, 'small', [stage('design', SUNDAY), ...EMPTY]);
}

/** What the model of the tutorial says to small work on the greeting. */
export function writeGreetingRecording(file: string): void {
  write(file, 'greeting', NOBODY);
}

function write(file: string, name: string, calls: readonly object[]): void {
  const header = { format: 'devs-recording/1', label: 'scripted', name };
  writeFileSync(file, [header, ...calls].map((line) => `${JSON.stringify(line)}\n`).join(''));
}

export const BRIEF = `# Receipts

- \`format(1234)\` in \`packages/money\` gives \`€12.34\`.
- \`receipt(items)\` in \`packages/cart\` lists the items, one per line, and then their total.
- No dependency is added.
`;

/** What each call is said to have cost, so that a repeated one would show in the sum. */
const USAGE = { tokensIn: 2000, tokensOut: 400, costUsd: 0.01 };

type Files = Readonly<Record<string, string>>;

const document = (type: string, title: string, content: string) => ({
  documents: [{ type, title, content }],
});

const stage = (name: string, response: object) => ({
  stage: name,
  task: '',
  attempt: 1,
  step: 'call',
  response,
  usage: USAGE,
});

/** A line of what a model says about a design. */
export const SUM_ANSWER = `${JSON.stringify({
  ...stage('ask', { answer: 'One for the code, one for its test.' }),
  step: 'design',
  question: 'Why two files?',
})}\n`;

const work = (summary: string, files: Files) => ({
  summary,
  files: Object.entries(files).map(([path, content]) => ({ path, content })),
});

/** The four calls of one attempt at a task. */
function attempt(
  task: string,
  number: number,
  { test, code, docs, evidence }: Readonly<Record<'test' | 'code' | 'docs', object> & { evidence: Files }>,
) {
  const shown = Object.entries(evidence).map(([criterion, shownBy]) => ({ criterion, shownBy }));
  const review = { approved: true, comments: 'Small and tested.', evidence: shown };
  const step = (name: string, response: object) => ({
    stage: 'task',
    task,
    attempt: number,
    step: name,
    response,
    usage: USAGE,
  });
  return [step('test', test), step('implement', code), step('review', review), step('document', docs)];
}

const TASKS = [
  {
    key: 'format',
    name: 'Format cents as euros',
    description: 'Write format(cents) in packages/money.',
    dependsOn: [],
    requirements: ['REQ-1'],
    acceptanceCriteria: ['format(1234) is €12.34'],
  },
  {
    key: 'receipt',
    name: 'Print a receipt',
    description: 'Write receipt(items) in packages/cart.',
    dependsOn: ['format'],
    requirements: ['REQ-2'],
    acceptanceCriteria: ['the last line is the total'],
  },
  {
    key: 'mail',
    name: 'Send the receipt by mail',
    description: 'Write send(receipt, address) in packages/cart.',
    dependsOn: ['receipt'],
    requirements: ['REQ-2'],
    acceptanceCriteria: ['a mail is sent'],
  },
];

const STAGES = [
  stage(
    'research',
    document('RESEARCH', 'Money on paper', 'Amounts are kept in cents. Nobody prints fractions of a cent.\n'),
  ),
  stage(
    'design',
    document(
      'PRD',
      'Receipts',
      'Two functions: `format(cents)` and `receipt(items)`.\n\nAn amount with a fraction of a cent is rounded.\n',
    ),
  ),
  stage('distill', {
    requirements: [
      { externalId: 'REQ-1', description: 'Amounts can be read.' },
      { externalId: 'REQ-2', description: 'A cart can be printed.' },
    ],
    epics: [{ name: 'Receipts', description: 'From cents to paper.', tasks: TASKS }],
  }),
];

const ANSWER = {
  ...stage('ask', {
    answer: 'No. Prices are whole cents today; rounding would be for a discount that nobody asked for.',
  }),
  step: 'design',
  question: 'Can there be a fraction of a cent?',
};

const FORMAT_TEST = `import assert from 'node:assert/strict';
import { it } from 'node:test';
import { format } from './format.js';

it('prints euros and cents', () => assert.equal(format(1234), '€12.34'));
`;

const FORMAT = attempt('T1', 1, {
  test: work('A price in euros and cents.', { 'packages/money/format.test.js': FORMAT_TEST }),
  code: work('Two decimals.', {
    'packages/money/format.js': `/** Cents as euros: 1234 is €12.34. */
export const format = (cents) => \`€\${(cents / 100).toFixed(2)}\`;
`,
  }),
  docs: work('How to call it.', {
    'packages/money/README.md': '# money\n\n`format(1234)` is `€12.34`.\n',
  }),
  evidence: { 'format(1234) is €12.34': 'format.test.js, prints euros and cents' },
});

const FORMAT_AGAIN = attempt('T1', 2, {
  test: work('A refund has its sign in front.', {
    'packages/money/format.test.js': `${FORMAT_TEST}
it('puts the sign of a refund in front', () => assert.equal(format(-500), '-€5.00'));
`,
  }),
  code: work('The sign comes first.', {
    'packages/money/format.js': `/** Cents as euros: 1234 is €12.34, -500 is -€5.00. */
export const format = (cents) => \`\${cents < 0 ? '-' : ''}€\${(Math.abs(cents) / 100).toFixed(2)}\`;
`,
  }),
  docs: work('Refunds too.', {
    'packages/money/README.md': '# money\n\n`format(1234)` is `€12.34`, `format(-500)` is `-€5.00`.\n',
  }),
  evidence: { 'format(1234) is €12.34': 'format.test.js, prints euros and cents' },
});

const RECEIPT = attempt('T2', 1, {
  test: work('The total comes last.', {
    'packages/cart/receipt.test.js': `import assert from 'node:assert/strict';
import { it } from 'node:test';
import { receipt } from './receipt.js';

const items = [{ name: 'Bread', cents: 250 }, { name: 'Cake', cents: 300 }];

it('ends with the total', () => assert.equal(receipt(items), 'Bread €2.50\\nCake €3.00\\nTotal €5.50'));
`,
  }),
  code: work('Items, then the total.', {
    'packages/cart/receipt.js': `import { format } from '../money/format.js';
import { total } from './total.js';

/** The items of a cart, one per line, and their total. */
export const receipt = (items) =>
  [...items, { name: 'Total', cents: total(items) }]
    .map(({ name, cents }) => \`\${name} \${format(cents)}\`)
    .join('\\n');
`,
  }),
  docs: work('How to call it.', {
    'packages/cart/README.md': '# cart\n\n`receipt(items)` is one line per item, and their total.\n',
  }),
  evidence: { 'the last line is the total': 'receipt.test.js, ends with the total' },
});

const SUNDAY = document('PRD', 'Tax on a receipt', 'One more line, `tax`, above the total.\n');

const EMPTY = attempt('T1', 1, {
  test: work('A cart that is not there.', {
    'packages/cart/none.test.js': `import assert from 'node:assert/strict';
import { it } from 'node:test';
import { total } from './total.js';

it('is nothing without a cart', () => assert.equal(total(), 0));
`,
  }),
  code: work('No cart is an empty one.', {
    'packages/cart/total.js': `/** What the items of a cart cost together, in cents; without a cart nothing. */
export const total = (items = []) => items.reduce((sum, { cents }) => sum + cents, 0);
`,
  }),
  docs: work('Its comment says it.', {}),
  evidence: {},
});

const NOBODY = attempt('T1', 1, {
  test: work('A name without letters.', {
    'nobody.test.js': `import assert from 'node:assert/strict';
import { it } from 'node:test';
import { greet } from './greet.js';

it('greets the world where there is no name', () => assert.equal(greet(''), 'Hello, world!'));
`,
  }),
  code: work('An empty name is none.', {
    'greet.js': `/** A greeting by name; without one, of the world. */
export const greet = (name) => \`Hello, \${name || 'world'}!\`;
`,
  }),
  docs: work('Its comment says it.', {}),
  evidence: {},
});
