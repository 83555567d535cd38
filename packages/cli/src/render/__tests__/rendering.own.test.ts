import { type Gate, type PipelineResult, type PipelineRunInfo, shownGate } from '@devs/core';
import { describe, expect, it } from 'vitest';
import { projectConfigSchema } from '../../config/ProjectConfig.ts';
import { progressLine } from '../../drive/progress.ts';
import { splitCommand } from '../../flags/commandWords.ts';
import { newSpec, parseSpec, resumedSpec, specText } from '../../flags/runSpec.ts';
import { formatConfig } from '../../project/acceptedConfig.ts';
import { agentsFrom } from '../../project/agentsFrom.ts';
import { newSession } from '../../project/Session.ts';
import { columns, textOfAll as textOf } from '../../terminal/Line.ts';
import { Output } from '../../terminal/Output.ts';
import { activityLines } from '../activityLines.ts';
import { renderGate } from '../renderGate.ts';
import { exitCodeOf, outcomeDocument, renderOutcome } from '../renderOutcome.ts';
import { formatCost, formatStatus, renderStatus, runRow, runTable } from '../renderStatus.ts';
import { sentence, taskLabelOrEmpty } from '../sentence.ts';
import { storyLines } from '../storyLines.ts';

type TaskView = PipelineRunInfo['tasks'][number];
type HitlSessionKind = Gate['kind'];

const devs = (...words: readonly string[]): string => ['devs', ...words].join(' ');

const SILENT = { write: () => undefined };

async function* noInput(): AsyncGenerator<string> {}

/** A command in a folder that is not there: nothing is read in it. */
const HERE = newSession(
  {
    stdin: noInput(),
    stdout: SILENT,
    stderr: SILENT,
    env: {},
    cwd: '/p',
    signal: new AbortController().signal,
  },
  new Output({ stdout: SILENT, stderr: SILENT, json: false, color: false }),
  {},
);

const gate = (kind: HitlSessionKind, artifact: unknown = { documents: [] }): Gate => ({
  sessionId: '3f2a91c0-0000-4000-8000-000000000000',
  threadId: 'csv',
  kind,
  taskId: kind === 'task_failure' ? 'csv:3' : 'csv',
  artifactHash: '9b74c9897bac770f'.repeat(4),
  message: 'Read it.',
  artifact,
  openedAt: '2026-01-02T03:04:05.000Z',
});

const cost = { tokensIn: 10, tokensOut: 5, costUsd: 0.5, calls: 2, requests: 2, unpriced: 0 };

const status: PipelineRunInfo = {
  id: 'csv',
  title: 'CSV export',
  status: 'running',
  graph: 'f'.repeat(64),
  metadata: {},
  tags: [],
  isDriven: false,
  isDue: true,
  createdAt: '2026-01-02T03:04:05.000Z',
  endedAt: null,
  reason: null,
  driver: '42:77',
  running: null,
  stopping: null,
  degraded: false,
  agents: { name: 'slugify', provenance: 'scripted' },
  workspace: '/p/.devs-work/csv',
  tasks: [],
  gates: [],
  cost,
  review: null,
  budget: [],
  rewinds: [],
  updatedAt: '2026-01-02T03:04:05.000Z',
};

describe('the gate of red checks', () => {
  const red = {
    command: 'npm test',
    failing: ['sum › adds'],
    flaky: ['io'],
    cases: 3,
    output: 'sum is off\n',
  };
  const printed = (artifact: unknown): string =>
    textOf(renderGate(shownGate(gate('baseline', artifact)), devs));

  it('shows what fails by name, what is flaky and the end of the output', () => {
    const parts = [{ name: 'xo', kind: 'lint', passed: true }];
    const text = printed({ ...red, parts });
    expect(text).toContain(
      'npm test fails on the untouched repository, 3 test cases ran\n  passed  xo (lint)\n',
    );
    expect(text).toContain('What fails\n  - sum › adds\n');
    expect(text).toContain('same files\n  - io\n\nEnd of the output\nsum is off\n');
    expect(text).toContain('devs answer 3f2a91c0 --hash 9b74c9897bac --again');
  });

  it('marks what is new since it was asked before, and shows it first', () => {
    const text = printed({ ...red, failing: ['a', 'b'], appeared: ['b'] });
    expect(text).toContain('What fails\n  - b  (new)\n  - a\n');
  });

  it('says of a missing program how it gets there', () => {
    const text = printed({ ...red, failing: [], flaky: [], cases: null, missing: 'ava' });
    expect(text).toContain('The checks could not run: ava is not installed here.');
    expect(text).toContain('"setup": ["npm", "ci"]');
    expect(text).not.toContain('What fails');
  });

  it.each([
    ['the command', { failing: ['npm test'], cases: null }, 'npm test'],
    ['a part', { failing: ['ava'], parts: [{ name: 'ava', kind: 'test', passed: false }] }, 'ava'],
  ])('says what is not known where %s fails as a whole', (_, told, name) => {
    expect(printed({ ...red, ...told })).toContain(
      `${name} does not report which case fails. If you accept it, devs cannot see a new test fail there,`,
    );
  });

  it.each([
    ['a case', {}],
    ['a linter', { failing: ['xo'], parts: [{ name: 'xo', kind: 'lint', passed: false }] }],
    ['nothing, a program being missing', { failing: ['npm test'], missing: 'ava' }],
  ])('and not where it is %s', (_, told) => {
    expect(printed({ ...red, ...told })).not.toContain('does not report which case fails');
  });

  it('keeps to its lines, whatever a case is called', () => {
    expect(printed({ ...red, failing: ['a\n── TAS'] })).not.toMatch(/^── TAS/m);
  });
});

describe('the status of a run', () => {
  const hostile = 'Pay\u200b \u202eeve\u{e0041}\u0085\nstatus  completed';
  const task = { taskId: 'csv:1', label: 'T1', status: 'pending', gitHash: null, name: hostile } as const;
  const run = { ...status, title: hostile, reason: hostile, tasks: [task as unknown as TaskView] };
  const printed = (json: boolean): string => {
    const written: string[] = [];
    const sink = { write: (text: string) => written.push(text) };
    const out = new Output({ stdout: sink, stderr: sink, json, color: false });
    out.result(run, renderStatus(run, devs));
    out.result([run], runTable([runRow(run)]));
    return written.join('');
  };

  it('spells out what cannot be seen in its names and its reason, each in its line', () => {
    const text = printed(false);
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    const spelled = 'Pay⟨U+200B⟩ ⟨U+202E⟩eve⟨U+E0041⟩⟨U+0085⟩⟨U+000A⟩status  completed\n';
    expect(text.split(spelled)).toHaveLength(5);
    expect(text).not.toMatch(/^status/m);
  });

  it('has it escaped as JSON', () => {
    expect(printed(true)).toMatch(/^[\n\x20-\x7e]+$/);
  });
});

describe('a gate', () => {
  it('shows a plan in the order of its tasks, with what each follows and is accepted by', () => {
    const task = (number: number, dependsOn: readonly string[]) => ({
      taskId: `csv:${number}`,
      epicId: 'e',
      name: `Task ${number}`,
      description: `Do ${number}.`,
      agentRole: 'developer',
      dependsOn,
      requirementIds: ['csv/REQ-1'],
      acceptanceCriteria: [`${number} works`],
    });
    const plan = {
      requirements: [{ requirementId: 'csv/REQ-1', externalId: 'REQ-1', description: 'It works.' }],
      epics: [{ epicId: 'e', name: 'All', description: 'Everything.', phaseNumber: 1, requirementIds: [] }],
      tasks: [task(10, ['csv:2']), task(2, [])],
    };
    const text = textOf(renderGate(shownGate(gate('dag_approval', plan)), devs));
    expect(text).toContain('T2    -      REQ-1         Task 2\nT10   T2     REQ-1         Task 10\n');
    expect(text).toContain('T10 Task 10 (developer)\n  Do 10.\n  - 10 works');
  });

  const entropy = {
    score: 0.7875,
    parts: [
      { part: 'same_error', share: 0.5, evidence: 'the same error 4 times (turns 1, 2, 3, 4): boom' },
      { part: 'alternation', share: 0.2875, evidence: 'the last 2 turns are the 2 before them again' },
    ],
  };

  it('says of a task that repeats itself what it repeats, each reason with its share', () => {
    const tried = { strategies: [], guidance: [], errors: [], lastObservation: null };
    const task = { taskId: 'csv:3', name: 'Parse', reason: 'entropy_limit', attempts: 4, ...tried, entropy };
    const text = textOf(renderGate(shownGate(gate('task_failure', task)), devs));
    expect(text).toContain('stopped after 4 attempts: it keeps repeating itself');
    expect(text).toContain(
      'Repetition: 0.79 of 1\n  0.50  the same error 4 times (turns 1, 2, 3, 4): boom\n',
    );
    expect(text).toContain('  0.29  the last 2 turns are the 2 before them again');
  });

  it('says so for a graph of one’s own too, and where the score is the node’s own', () => {
    const text = textOf(renderGate(shownGate(gate('task_failure', { node: 'ask', entropy })), devs));
    expect(text).toContain('Repetition: 0.79 of 1');
    const own = { node: 'ask', entropy: { score: 1, parts: [] } };
    expect(textOf(renderGate(shownGate(gate('task_failure', own)), devs))).toContain(
      'Repetition: 1.00 of 1\n  score set by the node',
    );
  });

  it('shows evidence of any other shape as it is, and what each answer means', () => {
    const text = textOf(renderGate(shownGate(gate('task_failure', { turns: 10 })), devs));
    expect(text).toContain('"turns": 10');
    expect(text).toContain('skip: skip the task and block the tasks that depend on it');
  });
});

describe('Output', () => {
  const write = (json: boolean, color = false): { readonly out: Output; readonly text: () => string } => {
    let text = '';
    const sink = { write: (chunk: string) => (text += chunk) };
    return { out: new Output({ stdout: sink, stderr: sink, json, color }), text: () => text };
  };

  it('spells out what would move the cursor or hide text', () => {
    const { out, text } = write(false, true);
    out.print({ style: 'bold', text: 'safe\u001b[8mhidden\u202e' });
    expect(text()).toBe('\u001b[1msafe⟨U+001B⟩[8mhidden⟨U+202E⟩\u001b[22m\n');
  });

  it('keeps quiet under --json, except for the document', () => {
    const { out, text } = write(true);
    out.print('progress');
    out.note('note');
    out.result({ secret: 'password=hunter2-hunter2' }, ['lines']);
    expect(JSON.parse(text())).toEqual({ secret: '[SECRET=REDACTED]' });
  });

  it('leaves ids and hashes readable', () => {
    const { out, text } = write(true);
    const whole = gate('design_approval');
    out.result(whole, []);
    expect(JSON.parse(text())).toEqual(whole);
  });
});

describe('progress', () => {
  it('says what happened to which task, after how long', () => {
    const finished = { node: 'implement', step: 'test', attempt: 1 };
    expect(progressLine('STEP_FINISHED', finished, { taskId: 'csv:3' }, 12_340)).toBe(
      '  12.3s  T3  test written',
    );
    expect(progressLine('NODE_FINISHED', { node: 'design', durationMs: 5 }, {}, 90)).toBe(
      '   0.1s  design written',
    );
    expect(progressLine('NODE_FINISHED', { node: 'verify', durationMs: 5 }, {}, 90)).toBeNull();
    expect(progressLine('RUN_SUSPENDED', { gates: 1 }, {}, 90)).toBeNull();
  });

  it('tells of no decision twice: who decides here is told so', () => {
    const decided = { sessionId: 's', kind: 'dag_approval', said: 'approved' };
    expect(progressLine('HITL_SESSION_DECIDED', { ...decided, principal: 'human:ada' }, {}, 0)).toBeNull();
    expect(progressLine('HITL_SESSION_DECIDED', { ...decided, principal: 'policy:quick' }, {}, 0)).toBe(
      '   0.0s  gate approved: plan, by policy:quick',
    );
    const shown = { sessionId: 's', kind: 'dag_approval', principal: 'human:ada', artifactHash: 'a' };
    expect(progressLine('GATE_SHOWN', shown, {}, 0)).toBeNull();
  });

  it('has words for what has two forms', () => {
    expect(sentence('RUN_SUSPENDED', { gates: 2 })).toBe('waiting at 2 gates');
    expect(sentence('SECRET_REDACTED', { place: 'step x', count: 1 })).toBe('1 secret masked in step x');
    expect(sentence('TASK_COMPLETED', { taskId: 'csv:1', name: 'Parse', gitHash: '' })).toBe('done: Parse');
    expect(sentence('NODE_FINISHED', { node: 'toString', durationMs: 1 })).toBe('toString done');
  });

  it('labels the tasks of a run only', () => {
    expect([taskLabelOrEmpty('csv:12'), taskLabelOrEmpty('csv'), taskLabelOrEmpty(null)]).toEqual([
      'T12',
      '',
      '',
    ]);
  });
});

describe('status', () => {
  it('tells a driven run from one whose driver has gone', () => {
    expect(formatStatus(status)).toBe('running');
    expect(formatStatus({ ...status, driver: null })).toBe('stopped, can be resumed');
    expect(formatStatus({ ...status, status: 'waiting' })).toBe('decided, ready to resume');
    expect(formatStatus({ ...status, status: 'waiting', gates: [gate('review')] })).toBe(
      'waiting for a person',
    );
    expect(formatStatus({ ...status, status: 'created' })).toBe('not started yet');
  });

  it.each([
    ['until 2027-01-04T08:00:00.000Z', 'waiting until 2027-01-04T08:00:00.000Z'],
    [
      'signal "paid", until 2027-01-04T08:00:00.000Z',
      'waiting for signal "paid", until 2027-01-04T08:00:00.000Z',
    ],
    ['run "a", run "b"', 'waiting for run "a", run "b"'],
    ['1 open gate(s), signal "paid"', 'decided, ready to resume'],
  ])('says what a run waits for besides humans: %s', (reason, words) => {
    const waiting = { ...status, status: 'waiting', reason, driver: null } as const;
    expect(formatStatus(waiting)).toBe(words);
    expect(formatStatus({ ...waiting, gates: [gate('node_gate')] })).toBe('waiting for a person');
  });

  it('shows facts, tasks and what to do next', () => {
    const tasks = [
      { taskId: 'csv:1', label: 'T1', name: 'Parse', status: 'completed', gitHash: 'd4181fd00' },
    ] as const;
    const run: PipelineRunInfo = {
      ...status,
      driver: null,
      degraded: true,
      tasks,
      gates: [gate('task_failure')],
    };
    const text = textOf(renderStatus(run, devs));
    expect(text).toContain('agents   slugify (scripted)');
    expect(text).toContain('cost     2 calls, 10 tokens in, 5 out, $0.50');
    expect(text).toContain('T1  completed  d4181fd  Parse');
    expect(text).toContain('3f2a91c0  csv  stuck task T3');
    expect(text).toContain('journal  incomplete');
    expect(text.trimEnd()).toMatch(/read: {4}devs show 3f2a91c0$/);
    expect(textOf(renderStatus(status, devs))).toContain('process 42; if it died, resume takes over');
  });
});

describe('the next command', () => {
  const next = (changes: Partial<PipelineRunInfo>): string =>
    textOf(renderStatus({ ...status, driver: null, ...changes }, devs))
      .trimEnd()
      .split('\n')
      .at(-1) ?? '';

  it.each([
    ['of a run that somebody drives', { driver: '42:1' }, 'follow:  devs log csv --follow'],
    ['of a run that was stopped', { status: 'paused' }, 'resume:  devs resume csv'],
    ['of a run whose driver died', { status: 'running' }, 'resume:  devs resume csv'],
    ['of a run that was decided', { status: 'waiting' }, 'resume:  devs resume csv'],
    ['of a new run', { status: 'created' }, 'resume:  devs resume csv'],
    ['of a run that waits', { status: 'waiting', gates: [gate('review')] }, 'read:    devs show 3f2a91c0'],
    ['of a finished run', { status: 'completed', workspace: '/w/csv' }, 'look:    git -C /w/csv log --stat'],
    ['of a failed run', { status: 'failed' }, 'retry:   devs resume csv'],
    ['of a run that was given up', { status: 'dead_letter' }, 'revive:  devs admin revive csv'],
    ['of a cancelled run', { status: 'cancelled' }, 'log:     devs log csv'],
  ] as const)('%s', (_what, changes, command) => {
    expect(next(changes)).toBe(`  ${command}`);
  });
});

describe('what a run cost', () => {
  it.each([
    [{}, '2 calls, 10 tokens in, 5 out, $0.50'],
    [{ costUsd: 0.0042 }, '2 calls, 10 tokens in, 5 out, $0.0042'],
    [{ calls: 1, requests: 1 }, '1 call, 10 tokens in, 5 out, $0.50'],
    [{ calls: 0, requests: 0 }, '0 calls, 10 tokens in, 5 out, $0.50'],
    [{ costUsd: 1e-7 }, '2 calls, 10 tokens in, 5 out, less than $0.0001'],
    [{ requests: 41 }, '2 calls, 41 requests, 10 tokens in, 5 out, $0.50'],
    [{ unpriced: 1 }, '2 calls, 10 tokens in, 5 out, at least $0.50; cost unknown for 1 call'],
    [{ unpriced: 2, costUsd: 0 }, '2 calls, 10 tokens in, 5 out, unknown; cost unknown for 2 calls'],
    [
      { calls: 0, requests: 3, tokensIn: 0, tokensOut: 0, costUsd: 0, unpriced: 3 },
      'none reported; cost unknown for 3 calls',
    ],
  ])('is never said to be less than --json says: %j', (changes, words) => {
    expect(formatCost({ ...cost, ...changes })).toBe(words);
  });

  it('is in the list, too, where no call has ended yet', () => {
    expect(textOf(runTable([runRow({ ...status, cost: { ...cost, calls: 0 } })]))).toContain('$0.50');
    expect(textOf(runTable([runRow({ ...status, cost: { ...cost, calls: 0, costUsd: 0 } })]))).toContain(
      '  $0.00  ',
    );
    const blind = { ...cost, costUsd: 0, unpriced: 2 };
    expect(textOf(runTable([runRow({ ...status, cost: blind })]))).toContain('  unknown  ');
    const none = { calls: 0, requests: 0, tokensIn: 0, tokensOut: 0, costUsd: 0, unpriced: 0 };
    expect(textOf(runTable([runRow({ ...status, cost: none })]))).toContain('  -  ');
    const silent = { ...none, requests: 3, unpriced: 3 };
    expect(textOf(runTable([runRow({ ...status, cost: silent })]))).toContain('  unknown  ');
  });
});

describe('the end of a drive', () => {
  const STATUSES = [
    ...(['completed', 'waiting', 'paused', 'created', 'running'] as const),
    ...(['failed', 'cancelled', 'dead_letter'] as const),
  ];

  const result = (
    changes: Partial<Pick<PipelineResult, 'status' | 'reason' | 'gates' | 'commits' | 'delivery'>>,
  ): PipelineResult => ({
    status: 'completed',
    reason: null,
    gates: [],
    commits: [],
    delivery: null,
    cost,
    ...changes,
  });

  it('has an exit code for each', () => {
    const codes = STATUSES.map((end) => exitCodeOf(result({ status: end })));
    expect(codes).toEqual([0, 75, 75, 75, 75, 1, 1, 1]);
  });

  it('is told to scripts in the word of the list, and in the word that they knew', () => {
    const document = (end: PipelineResult['status']) => outcomeDocument(status, result({ status: end }));
    expect(STATUSES.map((end) => document(end).runStatus)).toEqual(STATUSES);
    expect(STATUSES.map((end) => document(end).status)).toEqual([
      ...['completed', 'suspended', 'drained', 'drained', 'drained', 'failed', 'cancelled', 'dead_letter'],
    ]);
  });

  it.each([
    [null, 'git merge devs/csv'],
    ['checked_out', 'is checked out in your repository'],
    ['changed', 'has your own commits'],
  ] as const)('says where the branch is: %s', (held, words) => {
    const delivery = { branch: 'devs/csv', commit: 'd4181fd00', held };
    expect(textOf(renderOutcome(status, result({ delivery }), devs))).toContain(words);
  });

  it('ends with how to look at the work where there is no branch to merge', () => {
    const workspace = '/my project/.devs-work/csv';
    const last = (changes: Partial<PipelineResult>): string =>
      textOf(renderOutcome({ id: 'csv', workspace }, result(changes), devs))
        .split('\n')
        .at(-1) ?? '';
    expect(last({})).toBe("look:    git -C '/my project/.devs-work/csv' log --stat");
    const delivery = { branch: 'devs/csv', commit: 'd4181fd00', held: null };
    expect(last({ delivery })).toMatch(/^ {2}cost: /);
    expect(textOf(renderOutcome({ id: 'csv', workspace: null }, result({}), devs))).not.toContain('look:');
  });

  it('says why a run failed and where to read more', () => {
    const text = textOf(renderOutcome(status, result({ status: 'failed', reason: 'an epic failed' }), devs));
    expect(text).toContain('failed: an epic failed');
    expect(text).toContain('0 commits in /p/.devs-work/csv');
    expect(text).toContain('log: devs log csv');
  });
});

describe('a story', () => {
  it('has the lines of events in their colours, and edits as they are told', () => {
    const entry = { seq: 1, at: '2026-01-02T03:04:05.000Z', taskId: 'csv:1' };
    const failed = { ...entry, name: 'TASK_FAILED', payload: { taskId: 'csv:1', final: true } };
    const silent = { ...entry, name: 'NODE_STARTED', payload: { node: 'verify', attempt: 1 } };
    const goal = { ...entry, name: 'GOAL_SET', payload: { goal: 'dag' } };
    expect(storyLines([silent, failed, goal], 3)).toEqual([
      { style: 'bad', text: '2026-01-02 03:04:05Z  T1   task abandoned' },
      { style: 'row', text: '2026-01-02 03:04:05Z  T1   goal set: dag' },
    ]);
    const diff = activityLines({ kind: 'diff', path: 'a.js', diff: '@@ -1 +1 @@\n-old\n+new\n' });
    expect(diff).toEqual([
      '         │ ± a.js',
      '         │   @@ -1 +1 @@',
      { style: 'bad', text: '         │   -old' },
      { style: 'good', text: '         │   +new' },
    ]);
  });
});

describe('small parts', () => {
  it('the agents of a run come back as they were recorded; those of another program do not', () => {
    const spec = newSpec(
      { agents: ['replay:r.jsonl'], check: 'node --test' },
      { cwd: '/p', dir: '/p', config: projectConfigSchema.parse({}) },
    );
    const check = { name: 'check', dir: '.', timeoutMs: 120_000 };
    expect(spec).toEqual({
      agents: 'replay:/p/r.jsonl',
      checks: [{ ...check, argv: ['node', '--test'] }],
      setup: null,
      sandbox: 'bwrap',
      repository: null,
    });
    expect(parseSpec(specText(spec))).toEqual(spec);
    expect(resumedSpec({ check: 'make test' }, '/q', spec)).toEqual({
      ...spec,
      checks: [{ ...check, argv: ['make', 'test'] }],
    });
    for (const text of [null, 'my agents', '1', '{}', '{"agents":"none"}'])
      expect(parseSpec(text)).toBeNull();
  });

  it('what setup reads and what checks keep is recorded with the run', () => {
    const config = projectConfigSchema.parse({
      setup: { argv: ['make', 'deps'], inputs: ['schema/**'] },
      caches: ['target'],
    });
    const spec = newSpec({ agents: ['replay:r.jsonl'] }, { cwd: '/p', dir: '/p', config });
    expect(spec).toMatchObject({ setup: ['make', 'deps'], setupInputs: ['schema/**'], caches: ['target'] });
    expect(parseSpec(specText(spec))).toEqual(spec);
    for (const caches of [['/etc'], ['../x'], ['a/../../x']])
      expect(projectConfigSchema.safeParse({ caches }).success).toBe(false);
  });

  it('how often a model may run the checks is recorded with the run, said, and handed on', async () => {
    const wordsOf = (config: object) => formatConfig(projectConfigSchema.parse(config));
    const tried = 'edits:    checked by models';
    expect(wordsOf({ agentChecks: 0 })).toContain('edits:    not checked by models');
    expect(wordsOf({ agentChecks: 1 })).toContain(`${tried} at most once per call`);
    expect(wordsOf({}).join()).not.toContain('edits:');
    for (const agentChecks of [-1, 0.5, '3'])
      expect(projectConfigSchema.safeParse({ agentChecks }).success).toBe(false);

    const config = projectConfigSchema.parse({ agentChecks: 7, sandbox: 'none', repository: false });
    const spec = newSpec({ agents: ['command:node x.cjs'] }, { cwd: '/p', dir: '/p', config });
    expect(wordsOf(config)).toContain(`${tried} at most 7 times per call`);
    expect(parseSpec(specText(spec))).toEqual(spec);
    expect(await agentsFrom(spec, HERE)).toMatchObject({ agentChecks: 7 });
    const { agentChecks: _none, ...usual } = spec;
    expect(await agentsFrom(usual, HERE)).not.toHaveProperty('agentChecks');
  });

  it('limits are recorded with the run, said, and handed on', async () => {
    const limits = { valueBytes: 20_000_000, answerBytes: 4_000_000 };
    const config = projectConfigSchema.parse({ limits, sandbox: 'none', repository: false });
    expect(formatConfig(config)).toContain('limits:   {"valueBytes":20000000,"answerBytes":4000000}');
    const spec = newSpec({ agents: ['command:node x.cjs'] }, { cwd: '/p', dir: '/p', config });
    expect(parseSpec(specText(spec))).toEqual(spec);
    expect(await agentsFrom(spec, HERE)).toMatchObject({ limits });
    for (const bad of [{ valueBytes: 0 }, { depth: 1_001 }, { valueBytes: 2 ** 40 }, { valueByte: 1 }])
      expect(projectConfigSchema.safeParse({ limits: bad }).success).toBe(false);
  });

  it('what is masked in the state is said to whoever accepts the configuration', () => {
    const wordsOf = (config: object) => formatConfig(projectConfigSchema.parse(config));
    const precise = 'secrets:  masked in the state by their format';
    for (const config of [{}, { secrets: {} }, { secrets: { mask: 'precise' } }])
      expect(wordsOf(config)).toContain(precise);
    expect(wordsOf({ secrets: { mask: 'broad' } })).toContain(`${precise} and by the name next to them`);
    expect(projectConfigSchema.safeParse({ secrets: { mask: 'Broad' } }).success).toBe(false);
  });

  it('columns line up and end without spaces', () => {
    expect(
      columns([
        ['a', 'long', 'x'],
        ['abc', 'b', ''],
      ]),
    ).toEqual(['a    long  x', 'abc  b']);
    expect(columns([])).toEqual([]);
  });

  it('a check is split into words, and quotes keep words together', () => {
    expect(splitCommand('npm test')).toEqual(['npm', 'test']);
    expect(splitCommand(` node -e 'console.log(1)' "a b" ''`)).toEqual([
      'node',
      '-e',
      'console.log(1)',
      'a b',
      '',
    ]);
    for (const text of ['', '  ', "npm 'test", `x'y'`])
      expect(() => splitCommand(text)).toThrow('is not a command');
  });
});
