import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { ada } from '../../engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import { comparableFailures } from '../checks/CheckSummary.ts';
import type { CheckResult, Checks, DraftDocument } from '../ports.ts';
import { aPipeline, driveToTheEnd, type PipelineOptions } from './aPipeline.ts';

const RESULT: CheckResult = { passed: true, exitCode: 0, timedOut: false, output: 'ok', command: 'npm test' };
const RED: CheckResult = {
  ...RESULT,
  passed: false,
  exitCode: 1,
  output: 'a is broken',
  cases: [
    { name: 'a', state: 'failed' },
    { name: 'b', state: 'failed' },
    { name: 'c', state: 'passed' },
  ],
};

const later = (passed: boolean): CheckResult => ({
  ...RESULT,
  passed,
  cases: ['a', 'b', 'c', 'new'].map((name) => ({
    name,
    state: passed || name !== 'new' ? 'passed' : 'failed',
  })),
});

/** Checks that say these in turn, then red where that is due, and green. */
function first(...results: readonly CheckResult[]): Checks & { readonly runs: () => number } {
  let runs = 0;
  return {
    runs: () => runs,
    run: async ({ expect: due }) => {
      const result = results[runs] ?? later(due !== 'fail');
      runs += 1;
      return result;
    },
  };
}

async function aRepository(db: Database, options: PipelineOptions) {
  const pipeline = await aPipeline(db, { tasks: 1, ...options });
  const folder = await pipeline.workspace.open('shop');
  await folder.apply([{ path: 'index.js', content: 'export {};\n' }]);
  return pipeline;
}

const answering =
  (answer: object) =>
  ({ kind }: { readonly kind: string }): object =>
    kind === 'baseline' ? answer : { approved: true };

describe('the checks before any work', () => {
  test('are run once on the untouched tree, and told at the design and plan gate', async ({ db }) => {
    const checks = first({ ...RESULT, cases: [{ name: 'a', state: 'passed' }], flaky: ['a'] });
    const pipeline = await aRepository(db, { checks });
    const messages: string[] = [];
    const { status, kinds } = await driveToTheEnd(pipeline, ({ message }) => {
      messages.push(message);
      return { approved: true };
    });
    expect(status).toBe('completed');
    expect(kinds).toEqual(['design_approval', 'dag_approval']);
    expect(messages).toHaveLength(2);
    for (const message of messages) {
      expect(message).toContain('Before any work npm test passed, 1 test cases ran, flaky: 1.');
    }
  });

  test('propose a limit where they took more than half of theirs, at the first gate, red or not', async ({
    db,
  }) => {
    const parts = [
      { name: 'unit', kind: 'test', passed: true, durationMs: 75_400, limitMs: 120_000 },
      { name: 'lint', kind: 'lint', passed: true, durationMs: 900 },
    ] as const;
    const pipeline = await aRepository(db, { checks: first({ ...RESULT, parts }) });
    const messages: string[] = [];
    await driveToTheEnd(pipeline, ({ message }) => {
      messages.push(message);
      return { approved: true };
    });
    const proposed =
      'unit took 75 of the 120 s that it may take: set its "timeoutMs" to 300000 before you start other runs.';
    for (const message of messages) expect(message).toContain(proposed);
    expect(messages.join()).not.toContain('lint took');
  });

  test('propose a limit where they did not end in their time', async ({ db }) => {
    const cut: CheckResult = { ...RESULT, passed: false, exitCode: null, timedOut: true };
    const slow = { ...cut, durationMs: 120_010, limitMs: 120_000 };
    const { app } = await aRepository(db, { checks: first(slow) });
    const { gates } = await internalsOf(app).drive('shop');
    expect(gates).toMatchObject([
      {
        kind: 'baseline',
        message: expect.stringContaining(
          'npm test took 120 of the 120 s that it may take: set its "timeoutMs" to 480000',
        ),
      },
    ]);
  });

  test('are not run in an empty folder', async ({ db }) => {
    const checks = first();
    const pipeline = await aPipeline(db, { tasks: 1, checks });
    await internalsOf(pipeline.app).drive('shop');
    expect(checks.runs()).toBe(0);
  });

  test.for([
    ['npm error enoent Could not read package.json: Error: ENOENT: no such file, open package.json'],
    ['npm error Missing script: "test"'],
    ['Error: no test specified'],
    ['No test files found, exiting with code 1'],
  ])('ask nothing where there are no tests yet: %s', async ([output = ''], { db }) => {
    const pipeline = await aRepository(db, { checks: first({ ...RED, cases: [], output }) });
    const { kinds } = await driveToTheEnd(pipeline);
    expect(kinds).toEqual(['design_approval', 'dag_approval']);
  });

  test('ask a human where they are red, before anything is paid', async ({ db }) => {
    const { app, calls } = await aRepository(db, { checks: first(RED) });
    const { gates } = await internalsOf(app).drive('shop');
    expect(calls).toEqual([]);
    expect(gates).toMatchObject([
      {
        kind: 'baseline',
        message: 'The checks are red before any work was done. Nothing was paid yet.',
        artifact: { command: 'npm test', failing: ['a', 'b'], cases: 3, output: 'a is broken' },
      },
    ]);
  });

  test('run again when somebody mended them', async ({ db }) => {
    const checks = first(RED, RED, RESULT);
    const pipeline = await aRepository(db, { checks });
    const { status, kinds } = await driveToTheEnd(pipeline, answering({ action: 'again' }));
    expect(kinds).toEqual(['baseline', 'baseline', 'design_approval', 'dag_approval']);
    expect(status).toBe('completed');
    expect(checks.runs()).toBe(3 + 2);
  });

  test('mark what is new since a human was asked before', async ({ db }) => {
    const failing = (...names: readonly string[]): CheckResult => ({
      ...RED,
      cases: ['a', 'b', 'c'].map((name) => ({ name, state: names.includes(name) ? 'failed' : 'passed' })),
    });
    const missing: CheckResult = { ...RED, cases: [], missing: 'ava' };
    const results = [missing, failing('a'), failing('a'), failing('b', 'c', 'a'), failing('c'), RESULT];
    const pipeline = await aRepository(db, { checks: first(...results) });
    const artifacts: unknown[] = [];
    await driveToTheEnd(pipeline, (gate) => {
      if (gate.kind === 'baseline') artifacts.push(gate.artifact);
      return answering({ action: 'again' })(gate);
    });
    const shown = { failing: ['a'], flaky: [], cases: 3, command: 'npm test', output: 'a is broken' };
    expect(artifacts).toEqual([
      { ...shown, failing: ['npm test'], cases: 0, missing: 'ava' },
      shown,
      shown,
      { ...shown, failing: ['a', 'b', 'c'], appeared: ['b', 'c'] },
      { ...shown, failing: ['c'] },
    ]);
    expect((await pipeline.app.values('shop'))?.projectConfig).not.toHaveProperty('failedBefore');
  });

  test('are compared with names that are all known', () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `case ${index}`);
    const summary = { command: 'npm test', passed: false, cases: 3_000, flaky: [] };
    expect(comparableFailures({ ...summary, failing: names.slice(1) })).toHaveLength(1_999);
    expect(comparableFailures({ ...summary, failing: names })).toBeUndefined();
  });

  test.for([
    [{ action: 'accept' }, 'Before any work npm test failed (2, 2 of them accepted), 3 test cases ran.'],
    [
      { action: 'accept', failures: ['b'] },
      'Before any work npm test failed (2, 1 of them accepted), 3 test cases ran.',
    ],
  ] as const)('go on with what was accepted: %o', async ([answer, words], { db }) => {
    const pipeline = await aRepository(db, { checks: first(RED) });
    const { kinds } = await driveToTheEnd(pipeline, (gate) => {
      if (gate.kind !== 'baseline') expect(gate.message).toContain(words);
      return answering(answer)(gate);
    });
    expect(kinds).toEqual(['baseline', 'design_approval', 'dag_approval']);
  });

  test('are the first task, of which design and plan are told', async ({ db }) => {
    const told: (readonly DraftDocument[])[] = [];
    const design = async ({ documents }: { readonly documents: readonly DraftDocument[] }) => {
      told.push(documents);
      return { documents: [{ type: 'PRD', title: 'PRD', content: 'Mend it.' }] };
    };
    const pipeline = await aRepository(db, { checks: first(RED), agents: { design } });
    await driveToTheEnd(pipeline, answering({ action: 'first-task' }));
    expect(told[0]).toContainEqual(
      expect.objectContaining({ type: 'BASELINE', content: expect.stringContaining('- a\n- b') as string }),
    );
  });

  test('end the run', async ({ db }) => {
    const pipeline = await aRepository(db, { checks: first(RED) });
    const { status } = await driveToTheEnd(pipeline, answering({ action: 'abort' }));
    expect(status).toBe('cancelled');
    expect(pipeline.calls).toEqual([]);
  });

  test.for([
    [RED, { action: 'accept', failures: ['c'] }],
    [RED, { approved: true }],
    [{ ...RED, cases: [], missing: 'ava' }, { action: 'accept' }],
    [{ ...RED, cases: [], missing: 'ava' }, { action: 'first-task' }],
  ] as const)('refuse an answer that does not fit, and stay open', async ([result, answer], { db }) => {
    const { app } = await aRepository(db, { checks: first(result) });
    const { gates } = await internalsOf(app).drive('shop');
    const [gate] = gates;
    if (gate === undefined) expect.fail('no gate');
    await expect(app.decide(gate, { ...answer, by: ada })).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    expect((await internalsOf(app).drive('shop')).gates).toHaveLength(1);
  });
});
