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
const IS_LONG = howMany('DEVS_GATE_COMPILES', 1) > 1;

const NAME: Place = {
  file: 'packages/core/src/state/gates/hitlSession.ts',
  before: "  'node_gate',",
  text: "  'seal',\n",
};

const RULE: Place = {
  file: 'packages/core/src/engine/gates/engineGates.ts',
  before: '} satisfies GateRules;',
  text: `  seal: {
    given: () => z.strictObject({ wax: z.enum(['red', 'green']) }),
    recorded: () => z.strictObject({ wax: z.enum(['red', 'green']) }),
    shape: "{ wax: 'red' | 'green' }",
    policyName: null,
  },
`,
};

const WORDS: Place = {
  file: 'packages/cli/src/gates/gateLabels.ts',
  before: '  node_gate: {',
  text: "  seal: { name: 'seal', choices: [approveChoice('close the letter')], isDeclarable: false },\n",
};

/** A graph that asks for a seal, a wrong answer, a right one; how the command line shows the gate. */
const PROGRAM = `
import { durable } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { ENGINE_GATES, isAnswer } from '../core/src/engine/gates/engineGates.ts';
import { askQuestion, questionAbout } from '../core/src/engine/gates/question.ts';
import { gateLine } from './src/render/renderGate.ts';

const Letter = Annotation.Root({ text: Annotation<string>(), seal: Annotation<string>() });
const builder = new StateGraph(Letter)
  .addNode('close', ({ text }) => {
    const question = questionAbout({ text }, { kind: 'seal', key: 'seal/1', taskId: 'letter', message: 'Which wax?' });
    const answer = askQuestion(question, (value) => (isAnswer(ENGINE_GATES.seal, value) ? value : null));
    return { seal: answer.wax };
  })
  .addEdge(START, 'close')
  .addEdge('close', END);

const app = durable(builder, { file: process.argv[2] as string });
const by = { kind: 'human', id: 'ada' } as const;
const { gates: [gate] } = await app.run('letter', { text: 'Dear Grace' });
if (gate === undefined) throw new Error('nothing was asked');
const decide = async (answer: object): Promise<unknown> => app.decide(gate, { ...answer, by } as never);
const refused = await decide({ wax: 'blue' }).catch(({ code, remedy }) => ({ code, remedy }));
await decide({ wax: 'red' });
const { status, values } = await app.run('letter');
const line = gateLine(gate).slice(1, 3);
process.stdout.write(JSON.stringify({ refused, status, seal: values?.seal, line }));
`;

describe('a new kind of gate', () => {
  let dir = '';
  beforeAll(() => {
    dir = cloneSources({ isCompiledTwice: IS_LONG });
    return () => rmSync(dir, { recursive: true, force: true });
  });

  test('is a name, a rule and its words: the compiler asks for the other two', () => {
    edit(dir, NAME);
    expect(complaints(dir)).toEqual([WORDS.file, 'packages/core/src/orchestration/gates/pipelineGates.ts']);
    for (const place of [RULE, WORDS]) edit(dir, place);
    writeProgram(dir, PROGRAM);
    if (IS_LONG) expect(complaints(dir)).toEqual([]);
  });

  test('is then asked, checked, answered, and named on the command line', () => {
    expect(runProgram(dir)).toEqual({
      stderr: '',
      refused: { code: 'INVALID_ANSWER', remedy: "Answer with { wax: 'red' | 'green' }." },
      status: 'completed',
      seal: 'red',
      line: ['letter', 'seal'],
    });
  });
});
