import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PipelineResult } from '@devs/core';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { BRIEF, RUN_SUM, test } from './support/fixtures.ts';
import { trusting, writeConfig } from './support/writeConfig.ts';

const documentOf = <T>({ stdout }: { readonly stdout: string }): T => JSON.parse(stdout) as T;

const PLAN = `
requirements:
  - { externalId: REQ-1, description: 'sum(a, b) adds two numbers.' }
epics:
  - name: Sum
    description: One function.
    tasks:
      - key: sum
        name: Add two numbers
        description: Write sum(a, b).
        dependsOn: []
        requirements: [REQ-1]
        acceptanceCriteria: ['sum(2, 3) is 5']
`;

/** A coding CLI that can design, and nothing else. */
const DESIGNER = `
import { readFileSync } from 'node:fs';
if (!readFileSync(0, 'utf8').includes('Stage: design.')) process.exit(1);
const left = ['MCP_DESIGN', 'SECURITY', 'UI_UX'].map((type) => '- ' + type + ': none\\n').join('');
const documents = [
  { type: 'PRD', title: 'Sum', content: 'Adds.' },
  { type: 'TAS', title: 'Sum', content: '## Left out\\n' + left },
];
process.stdout.write(JSON.stringify({ documents }));
`;

const write = (dir: string, name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return name;
};

describe('devs run with what was brought along', () => {
  test('shows documents at the design gate, typed by their file or by name', async ({ dir }) => {
    const prd = write(dir, 'prd.md', 'Adds.\n\n# What it does\n');
    const design = `TAS=${write(dir, 'architecture.md', 'One file.\n')}`;
    const run = await callMain(dir, [...RUN_SUM, '--documents', prd, '--documents', design, '--json']);
    expect(run.exitCode, run.stderr).toBe(75);
    expect(documentOf<PipelineResult>(run).gates).toMatchObject([
      {
        kind: 'design_approval',
        artifact: {
          documents: [
            { type: 'BRIEF' },
            { type: 'PRD', title: 'What it does' },
            { type: 'TAS', title: 'TAS', content: 'One file.\n' },
          ],
        },
      },
    ]);
  });

  test.for([
    ['--no-research', {}],
    ['a configuration that says so', { research: false }],
  ] as const)('makes the design from the brief alone with %s', async ([flag, config], { dir }) => {
    writeConfig(dir, config);
    const agent = join(dir, write(dir, 'designer.mjs', DESIGNER));
    const flags = flag.startsWith('--') ? [flag] : [];
    const agents = ['--agents', `command:${process.execPath} ${agent}`, '--no-sandbox'];
    const run = await callMain(dir, ['run', BRIEF, ...agents, ...flags, ...trusting(dir), '--json']);
    expect(run.exitCode, run.stderr).toBe(75);
    expect(documentOf<PipelineResult>(run).gates).toMatchObject([
      { artifact: { documents: [{ type: 'BRIEF' }, { type: 'PRD' }, { type: 'TAS' }] } },
    ]);
  });

  test('begins at the plan gate with a plan in YAML, and works on its tasks', async ({ dir }) => {
    const argv = [...RUN_SUM, '--plan', write(dir, 'plan.yaml', PLAN)];
    const waiting = await callMain(dir, [...argv, '--json']);
    expect(documentOf<PipelineResult>(waiting).gates, waiting.stderr).toMatchObject([
      { kind: 'dag_approval' },
    ]);
    await callMain(dir, ['approve', 'sum']);
    const done = documentOf<PipelineResult>(await callMain(dir, ['resume', 'sum', '--json']));
    expect(done).toMatchObject({ status: 'completed', commits: [{ subject: 'Add two numbers' }] });
  });

  test('stops at a goal, says so, and goes on without one', async ({ dir }) => {
    const argv = [...RUN_SUM, '--yes', '--plan', write(dir, 'plan.yaml', PLAN)];
    const planned = await callMain(dir, [...argv, '--until', 'dag']);
    expect(planned.exitCode, planned.stderr).toBe(75);
    expect(planned.stdout).toContain('stopped: the plan is approved; to resume: devs resume sum');
    const nothing = await callMain(dir, ['resume', 'sum', '--only', 'T9']);
    expect(nothing.stdout).toContain('stopped: the plan has no T9');
    const done = await callMain(dir, ['resume', 'sum', '--epic', 'E1', '--json']);
    expect(documentOf<PipelineResult>(done), done.stderr).toMatchObject({
      status: 'completed',
      commits: { length: 1 },
    });
    for (const flags of [
      ['--until', 'x'],
      ['--only', 'x'],
      ['--only', 'T1', '--epic', 'E1'],
    ]) {
      expect((await callMain(dir, ['resume', 'sum', ...flags])).exitCode, flags.join(' ')).toBe(2);
    }
  });

  test.for([
    ['a document that is not there', ['--documents', 'x.md'], /Cannot use x\.md/],
    ['a plan of another form', ['--plan', 'plan.json'], /Cannot use plan\.json: .*epics/s],
    [
      'two documents of one type',
      ['--documents', 'PRD.md', '--documents', 'prd.md'],
      /Two documents have the type PRD/,
    ],
  ] as const)('is refused with %s', async ([, flags, message], { dir }) => {
    write(dir, 'plan.json', '{"requirements":[]}');
    write(dir, 'PRD.md', 'Text.');
    write(dir, 'prd.md', 'Text.');
    const run = await callMain(dir, [...RUN_SUM, ...flags]);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(message);
  });
});

describe('devs run without a file', () => {
  test.for([
    ['-m', 'Add two numbers'],
    ['--quick', 'Add two numbers'],
    ['--quick', '-m', 'Add two numbers'],
  ])('takes the words themselves: %j', async (flags, { dir }) => {
    const argv = ['run', ...flags, '--agents', 'none', '--json'];
    await callMain(dir, argv);
    const [status] = documentOf<{ title: string }[]>(await callMain(dir, ['status', '--json']));
    expect(status?.title).toBe('Add two numbers');
  });

  test.for([
    ['no brief', [], 'The brief is missing'],
    ['two', ['sum.md', '-m', 'Add'], 'The brief is given twice'],
    ['a sentence without --quick', ['Add two numbers'], 'Cannot read the brief'],
    ['small work with a plan', ['--quick', 'Add two numbers', '--plan', 'plan.yaml'], '--quick and --plan'],
    ['a kind without --quick', ['-m', 'Add', '--kind', 'behaviour-kept'], 'Add --quick'],
    ['a kind without its command', ['--quick', 'Add it', '--kind', 'checked-by'], 'need each other'],
  ] as const)('refuses %s', async ([, argv, words], { dir }) => {
    const run = await callMain(dir, ['run', ...argv, '--agents', 'none']);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain(words);
  });
});
