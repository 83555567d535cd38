import { rmSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { howMany } from '../../core/test/support/howMany.ts';
import {
  cloneSources,
  complaints,
  edit,
  type Place,
  runProgram,
  writeProgram,
} from './support/strangersClone.ts';

/** How often the compiler looks at all sources: the second time, at what was filled in. */
const IS_LONG = howMany('DEVS_MEASURE_COMPILES', 1) > 1;

const PAGE_WORDS = 'packages/ui/page/words.ts';

const LIMIT: Place = {
  file: 'packages/core/src/config/budgetMeasures.ts',
  before: '  /** Active time in milliseconds. Time spent',
  text: '  /** Hundredths of a US dollar. */\n  readonly cents?: number;\n',
};

const ROW: Place = {
  file: LIMIT.file,
  before: "  ms: {\n    kind: 'time',",
  text: `  cents: {
    kind: 'count',
    unit: 'cents',
    one: 'cent',
    flag: 'small-change',
    words: 'cost in cents',
    member: 'Cents.',
    help: { limit: 'ask a person after this many cents', raise: 'add this many cents' },
    countsAbove: true,
  },
`,
};

const COUNT: Place = {
  file: 'packages/core/src/engine/guards/Budget.ts',
  before: '    ms: { spent: used.ms,',
  text: '    cents: { spent: 100 * (used.usd - used.reservedUsd), reserved: 100 * used.reservedUsd, next: 100 * next.usd },\n',
};

const FIELD: Place = { file: PAGE_WORDS, before: "  ms: { field: '", text: "  cents: counted('cents'),\n" };

/** A run that passes its limit, a wrong raise and a right one; what the command line makes of both. */
const PROGRAM = `
import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Command } from 'commander';
import { EventBus } from '../core/src/events/events.ts';
import { configSchemaText, projectConfigSchema } from './src/config/ProjectConfig.ts';
import { addBudgetOptions, addRaiseOptions, budgetFrom, raiseFrom } from './src/flags/budgetFlags.ts';
import { passedBudgetLines } from './src/render/renderBudget.ts';
import { sentence } from './src/render/sentence.ts';

const given = (options: readonly string[], add: (command: Command) => Command) =>
  add(new Command()).parse(options, { from: 'user' }).opts();

const Letter = Annotation.Root({ text: Annotation<string>() });
const call = (name: string, costUsd: number) =>
  step(name, async ({ usage }) => {
    usage({ costUsd });
    return name;
  });
const builder = new StateGraph(Letter)
  .addNode('write', async () => ({ text: (await call('draft', 0.25)) + (await call('letter', 0.25)) }))
  .addEdge(START, 'write')
  .addEdge('write', END);

const budget = budgetFrom(given(['--budget-small-change', '40'], addBudgetOptions));
const told: (string | null)[] = [];
const events = new EventBus();
events.on('HITL_SESSION_DECIDED', (payload) => told.push(sentence('HITL_SESSION_DECIDED', payload)));
events.on('GUARD_TRIPPED', (payload) => told.push(sentence('GUARD_TRIPPED', payload)));
const app = durable(builder, { file: process.argv[2] as string, events, ...(budget && { budget }) });
const by = { kind: 'human', id: 'ada' } as const;
const { gates: [gate] } = await app.run('letter', {});
if (gate === undefined) throw new Error('nothing was asked');
const raise = async (amounts: object): Promise<unknown> => app.decide(gate, { action: 'raise', ...amounts, by });
const refused = await raise({ calls: 2 }).catch(({ remedy }) => remedy);
const unnamed = await raise({}).catch(({ message }) => message);
await raise(raiseFrom(given(['--raise-small-change', '10'], addRaiseOptions)) ?? {});
const { status, values } = await app.run('letter');
const lines = passedBudgetLines(gate.artifact as Parameters<typeof passedBudgetLines>[0]).map(String);
const wrong = projectConfigSchema.safeParse({ budget: { cents: 0.5 } }).error?.issues.map(({ path }) => path.join('.'));
const isDescribed = configSchemaText().includes('Cents.');
process.stdout.write(JSON.stringify({ budget, refused, unnamed, status, text: values?.text, told, lines, wrong, isDescribed }));
`;

describe('a new measure of budgets', () => {
  let dir = '';
  beforeAll(() => {
    dir = cloneSources({ pages: [PAGE_WORDS], isCompiledTwice: IS_LONG });
    return () => rmSync(dir, { recursive: true, force: true });
  });

  test('is a limit with a comment: the compiler asks for its row, how it is counted, and its field on the page', () => {
    edit(dir, LIMIT);
    expect(complaints(dir)).toEqual([ROW.file, COUNT.file, FIELD.file]);
    for (const place of [ROW, COUNT, FIELD]) edit(dir, place);
    writeProgram(dir, PROGRAM);
    if (IS_LONG) expect(complaints(dir)).toEqual([]);
  });

  test('is then parsed, counted, asked about, raised, told, configured, and two options of the command line', () => {
    expect(runProgram(dir)).toEqual({
      stderr: '',
      budget: { cents: 40 },
      refused: 'Raise cents, which the next call would exceed.',
      unnamed:
        'A gate of kind budget does not accept this answer. answer: Names none of usd, tokens, calls, cents, ms.',
      status: 'completed',
      text: 'draftletter',
      told: ['limit reached: cost in cents, 25 of 40', 'budget raised by 10 cents, by human:ada'],
      lines: [
        'blocked call: letter of write',
        'of   limit     used      reserved  next call',
        'run  40 cents  25 cents  0 cents   25 cents',
        '',
      ],
      wrong: ['budget.cents'],
      isDescribed: true,
    });
  });
});
