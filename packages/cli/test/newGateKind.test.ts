import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bundleAlone } from '../../core/test/support/bundlePrograms.ts';
import { howMany } from '../../core/test/support/howMany.ts';

/** How often the compiler looks at all sources: the second time, at what was filled in. */
const IS_LONG = howMany('DEVS_GATE_COMPILES', 1) > 1;

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Place {
  readonly file: string;
  readonly before: string;
  readonly text: string;
}

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
import { isAnswer } from '../core/src/engine/gates/answers.ts';
import { askQuestion } from '../core/src/engine/gates/question.ts';
import { ENGINE_GATES } from '../core/src/engine/gates/engineGates.ts';
import { questionAbout } from '../core/src/engine/gates/question.ts';
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
const decide = async (answer: object): Promise<unknown> => app.decide(gate, { ...answer, by });
const refused = await decide({ wax: 'blue' }).catch(({ code, remedy }) => ({ code, remedy }));
await decide({ wax: 'red' });
const { status, values } = await app.run('letter');
const line = gateLine(gate).slice(1, 3);
process.stdout.write(JSON.stringify({ refused, status, seal: values?.seal, line }));
`;

/** What other tests keep in the cache comes and goes. */
const isInstalled = (path: string): boolean => !path.includes(join('node_modules', '.cache'));

/** The sources of every package in a folder of their own, as a stranger's clone has them. */
function cloneSources(): string {
  const dir = mkdtempSync(join(tmpdir(), 'devs-stranger-'));
  for (const name of ['core', 'agents', 'postgres', 'ui', 'cli']) {
    for (const part of ['src', 'package.json', 'node_modules']) {
      const path = join('packages', name, part);
      cpSync(join(ROOT, path), join(dir, path), {
        recursive: true,
        verbatimSymlinks: true,
        filter: isInstalled,
      });
    }
  }
  cpSync(join(ROOT, 'tsconfig.base.json'), join(dir, 'tsconfig.base.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  const config = {
    extends: './tsconfig.base.json',
    // Incremental: the second time, what the edits in between have not touched is not looked at again.
    compilerOptions: {
      noEmit: true,
      composite: false,
      ...(IS_LONG && { incremental: true, tsBuildInfoFile: './known.tsbuildinfo' }),
      allowImportingTsExtensions: true,
    },
    include: ['packages/*/src', 'packages/cli/stranger.ts'],
    exclude: ['**/__tests__', '**/node_modules'],
  };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(config));
  return dir;
}

function edit(dir: string, { file, before, text }: Place): void {
  const path = join(dir, file);
  const source = readFileSync(path, 'utf8');
  expect(source.split(before), `${file} has the place once`).toHaveLength(2);
  writeFileSync(path, source.replace(before, `${text}${before}`));
}

/** The files the compiler complains about. */
function complaints(dir: string): readonly string[] {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  // Several checkers at a time do much of the work each for itself, and the collector is for what lives longer.
  const args = [tsc, '-p', dir, '--pretty', 'false', '--checkers', '1'];
  const env = { ...process.env, GOGC: '200' };
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  const files = [...stdout.matchAll(/^(?:.*\/)?(packages\/\S+\.ts)\(\d+,\d+\): error/gm)].map(
    ([, file]) => file as string,
  );
  return [...new Set(files)].sort();
}

describe('a new kind of gate', () => {
  let dir = '';
  beforeAll(() => {
    dir = cloneSources();
    return () => rmSync(dir, { recursive: true, force: true });
  });

  test('is a name, a rule and its words: the compiler asks for the other two', () => {
    edit(dir, NAME);
    expect(complaints(dir)).toEqual([WORDS.file, 'packages/core/src/orchestration/gates/pipelineGates.ts']);
    for (const place of [RULE, WORDS]) edit(dir, place);
    writeFileSync(join(dir, 'packages/cli/stranger.ts'), PROGRAM);
    if (IS_LONG) expect(complaints(dir)).toEqual([]);
  });

  test('is then asked, checked, answered, and named on the command line', () => {
    const state = mkdtempSync(join(tmpdir(), 'devs-'));
    onTestFinished(() => rmSync(state, { recursive: true }));
    const program = join(dir, 'packages/cli/stranger.ts');
    const file = join(dir, 'packages/cli/stranger.mjs');
    bundleAlone(program, file);
    const args = [file, join(state, 'letters.sqlite')];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8' });
    expect({ stderr, ...JSON.parse(stdout || '{}') }).toEqual({
      stderr: '',
      refused: { code: 'INVALID_ANSWER', remedy: "Answer with { wax: 'red' | 'green' }." },
      status: 'completed',
      seal: 'red',
      line: ['letter', 'seal'],
    });
  });
});
