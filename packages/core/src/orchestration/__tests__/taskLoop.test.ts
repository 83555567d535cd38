import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { aPlan } from '../../testing/fakeAgents.ts';
import type { PlanResult, ReviewRequest, TaskDraft, TaskRequest } from '../ports.ts';
import { driveToTheEnd } from './aPipeline.ts';
import { aWorld, file, quiet, work } from './aWorld.ts';

const RIGHT = file('test/a.txt', 'a=1');
const CODE = file('src/a.txt', 'a=1');

/** The plan with something else said of each task. */
function planWith(...parts: readonly Partial<TaskDraft>[]): PlanResult {
  const { requirements, epics } = aPlan(parts.length);
  const [epic] = epics as [PlanResult['epics'][number]];
  const tasks = epic.tasks.map((task, index) => ({ ...task, ...parts[index] }));
  return { requirements, epics: [{ ...epic, tasks }] };
}

describe('a test is red on the tree without the code', () => {
  test('so one that is corrected after a failed attempt passes, though the code lies in the folder', async ({
    db,
  }) => {
    const seen: TaskRequest[] = [];
    const world = await aWorld(db, {
      agents: {
        ...quiet,
        writeTest: async (request) => {
          seen.push(request);
          return work(request.attempt === 1 ? file('test/a.txt', 'a=2') : RIGHT);
        },
        implement: async () => work(CODE),
      },
    });
    expect(await driveToTheEnd(world)).toMatchObject({
      status: 'completed',
      values: { tasks: [{ testFiles: ['test/a.txt'] }], taskAttempts: 2 },
    });
    expect(seen.map(({ lastFailure }) => lastFailure)).toEqual([
      null,
      expect.stringContaining('not ok: a=2'),
    ]);
    expect(await world.committed()).toEqual({ 'src/a.txt': 'a=1\n', 'test/a.txt': 'a=1\n' });
    expect(world.runs).toEqual(['not ok: a=2', 'not ok: a=2', 'not ok: a=1', 'ok']);
  });

  test('and so is one whose file has another name in each attempt; the first one is gone', async ({ db }) => {
    const world = await aWorld(db, {
      agents: {
        ...quiet,
        writeTest: async ({ attempt }) =>
          attempt === 1
            ? work(file('test/wrong.txt', 'a=2'))
            : work({ path: 'test/wrong.txt', content: null }, RIGHT),
        implement: async () => work(CODE),
      },
    });
    const { values } = await driveToTheEnd(world);
    expect(values?.tasks).toMatchObject([{ status: 'completed', testFiles: ['test/a.txt'] }]);
    expect(await world.committed()).toEqual({ 'src/a.txt': 'a=1\n', 'test/a.txt': 'a=1\n' });
  });

  test('and so is one that an attempt left which ended in an error, and that the next one leaves as it is', async ({
    db,
  }) => {
    const test = file('test/a.js', 'a=1');
    const world = await aWorld(db, {
      agents: {
        ...quiet,
        writeTest: async () => work(test),
        implement: async ({ attempt }) => {
          if (attempt > 1) return work(CODE);
          throw new DevsError('I cannot help with that.', { code: 'AGENT_INVALID_OUTPUT', remedy: 'Ask.' });
        },
      },
    });
    const { values } = await driveToTheEnd(world);
    expect(values).toMatchObject({
      taskAttempts: 2,
      tasks: [{ status: 'completed', testFiles: ['test/a.js'] }],
    });
    expect(world.runs).toEqual(['not ok: a=1', 'ok', 'not ok: a=1', 'ok']);
  });

  test('one that passes there asks for nothing, and is written again', async ({ db }) => {
    const world = await aWorld(db, {
      agents: {
        ...quiet,
        writeTest: async ({ attempt }) => work(attempt === 1 ? file('test/a.txt') : RIGHT),
        implement: async () => work(CODE),
      },
    });
    const { values } = await driveToTheEnd(world);
    expect(values?.agentLogs[0]?.content).toMatchObject({
      action: 'test',
      observation: expect.stringContaining('passes before anything is implemented'),
    });
    expect(world.runs).toEqual(['ok', 'not ok: a=1', 'ok']);
  });

  test('one that passes there takes nothing from the code of the attempts before', async ({ db }) => {
    const tests = [file('test/a.txt', 'a=2'), file('test/a.txt'), RIGHT];
    const world = await aWorld(db, {
      agents: {
        ...quiet,
        writeTest: async ({ attempt }) => work(...tests.slice(attempt - 1, attempt)),
        implement: async ({ attempt }) => work(...(attempt === 1 ? [CODE] : [])),
      },
    });
    const { values } = await driveToTheEnd(world);
    expect(values).toMatchObject({ taskAttempts: 3, tasks: [{ status: 'completed' }] });
    expect(await world.committed()).toEqual({ 'src/a.txt': 'a=1\n', 'test/a.txt': 'a=1\n' });
  });
});

describe('the checks', () => {
  test('run twice for a task and attempt: the tree that was green is not checked again', async ({ db }) => {
    const world = await aWorld(db, {
      tasks: 2,
      agents: {
        ...quiet,
        writeTest: async ({ task }) => work(file(`test/${task.name}.txt`, task.name)),
        implement: async ({ task }) => work(file(`src/${task.name}.txt`, task.name)),
      },
    });
    const { status, values } = await driveToTheEnd(world);
    expect(status).toBe('completed');
    expect(world.runs).toEqual(['not ok: Task 1', 'ok', 'not ok: Task 2', 'ok']);
    expect(values?.tasks.map(({ green }) => green?.check.output)).toEqual([undefined, 'ok']);
  });

  test('that find a program missing end the drive, count no attempt, and go on once it is there', async ({
    db,
  }) => {
    let isThere = false;
    const world = await aWorld(db, {
      says: (result) => (isThere ? result : { ...result, passed: false, missing: 'xo' }),
      agents: { ...quiet, writeTest: async () => work(RIGHT), implement: async () => work(CODE) },
    });
    await expect(driveToTheEnd(world)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('xo is not installed'),
      remedy: expect.stringContaining('Install xo'),
    });
    expect((await world.app.values('shop'))?.errorHistory).toEqual([]);
    isThere = true;
    expect(await driveToTheEnd(world)).toMatchObject({ status: 'completed', values: { taskAttempts: 1 } });
  });

  test('that were flaky are told, and refuse nothing', async ({ db }) => {
    const world = await aWorld(db, {
      says: (result) => ({ ...result, flaky: ['sometimes'] }),
      agents: { ...quiet, writeTest: async () => work(RIGHT), implement: async () => work(CODE) },
    });
    const { status, values } = await driveToTheEnd(world);
    expect(status).toBe('completed');
    expect(values?.agentLogs[0]?.content.observation).toContain(
      'Failed and passed on the same files (green): sometimes.',
    );
  });
});

describe('what was red must be what is green', () => {
  test('a test that is changed by implement or document is put back, and they are told', async ({ db }) => {
    const seen: (string | null)[] = [];
    const world = await aWorld(db, {
      agents: {
        ...quiet,
        writeTest: async () => work(RIGHT),
        implement: async ({ attempt, lastFailure }) => {
          seen.push(lastFailure);
          if (attempt === 1) return work(file('src/a.txt', 'a=2'), file('test/a.txt', 'a=2'));
          return work(CODE, { path: 'test/a.txt', content: null });
        },
        document: async () => work(file('test/a.txt', 'skip a=1'), file('README.md', 'a')),
      },
    });
    const { status, values } = await driveToTheEnd(world);
    expect(status).toBe('completed');
    expect(seen[1]).toContain('not ok: a=1');
    expect(seen[1]).toContain('Your changes of test/a.txt in implement were put back');
    expect(seen[1]).toContain('Your changes of test/a.txt in document were put back');
    expect(values?.agentLogs.at(-1)?.content.observation).toContain('in implement were put back');
    expect(await world.committed()).toEqual({
      'README.md': 'a\n',
      'src/a.txt': 'a=1\n',
      'test/a.txt': 'a=1\n',
    });
  });

  test('a test that is found wrong is written again, by an agent that is told why', async ({ db }) => {
    const seen: (string | null)[] = [];
    const world = await aWorld(db, {
      agents: {
        ...quiet,
        writeTest: async ({ attempt, lastFailure }) => {
          seen.push(lastFailure);
          return work(attempt === 1 ? file('test/a.txt', 'a=2') : RIGHT);
        },
        implement: async ({ attempt }) =>
          attempt === 1 ? { ...work(CODE), wrongTest: 'The brief says 1.' } : work(),
      },
    });
    const { status } = await driveToTheEnd(world);
    expect(status).toBe('completed');
    expect(seen).toEqual([null, 'The test is wrong: The brief says 1.']);
    expect(world.runs).toEqual(['not ok: a=2', 'not ok: a=1', 'ok']);
    expect(world.calls.filter((call) => call.endsWith('document'))).toEqual([]);
  });

  test('a case that was red and did not run is not green, whatever the exit code says', async ({ db }) => {
    const world = await aWorld(db, {
      says: (result, number) => (number === 2 ? { ...result, passed: true, cases: [] } : result),
      agents: { ...quiet, writeTest: async () => work(RIGHT), implement: async () => work(CODE) },
    });
    const { values } = await driveToTheEnd(world);
    expect(values?.agentLogs[0]?.content).toMatchObject({
      action: 'implement',
      observation: expect.stringContaining('What was red is not green: a=1.'),
    });
    expect(values?.tasks[0]?.status).toBe('completed');
  });
});

describe('a reviewer', () => {
  test('is told the diff against what is integrated, the files and the checks', async ({ db }) => {
    const seen: ReviewRequest[] = [];
    const world = await aWorld(db, {
      tasks: 2,
      agents: {
        ...quiet,
        writeTest: async ({ task }) => work(file(`test/${task.name}.txt`, task.name)),
        implement: async ({ task }) => work(file(`src/${task.name}.txt`, task.name)),
        review: async (request) => {
          seen.push(request);
          return { approved: true, comments: '' };
        },
      },
    });
    await driveToTheEnd(world);
    expect(seen[1]).toMatchObject({
      files: [
        { path: 'src/Task 2.txt', added: 1, removed: 0 },
        { path: 'test/Task 2.txt', added: 1, removed: 0 },
      ],
      check: { passed: true, output: 'ok', command: 'lines' },
    });
    expect(seen[1]?.diff).toContain('+++ b/src/Task 2.txt\n+Task 2\n');
    expect(seen[1]).not.toHaveProperty('losses');
  });
});

describe('a task without a red test', () => {
  test('of refactoring is green before and after, without a second run where that is known', async ({
    db,
  }) => {
    const world = await aWorld(db, {
      agents: {
        ...quiet,
        distill: async () => planWith({ kind: 'behaviour-kept' }, { kind: 'behaviour-kept' }),
        implement: async ({ task, attempt }) => {
          if (task.name === 'Task 1') return work(CODE);
          return attempt === 1
            ? work()
            : work(file('src/b.txt', 'a=1'), { path: 'src/a.txt', content: null });
        },
      },
    });
    const { status, values } = await driveToTheEnd(world);
    expect(status).toBe('completed');
    expect(world.calls.filter((call) => call.endsWith('test'))).toEqual([]);
    expect(world.runs).toEqual(['ok', 'ok', 'ok']);
    expect(values?.agentLogs.map(({ content }) => content.observation)).toContain('Nothing was changed.');
    expect(await world.committed()).toEqual({ 'src/b.txt': 'a=1\n' });
  });

  test('of refactoring is refused while the checks are red before it', async ({ db }) => {
    const world = await aWorld(db, {
      says: (result, number) => ({ ...result, passed: number > 1 }),
      agents: {
        ...quiet,
        distill: async () => planWith({ kind: 'behaviour-kept' }),
        implement: async () => work(CODE),
      },
    });
    const { values } = await driveToTheEnd(world);
    expect(values?.agentLogs[0]?.content.observation).toContain(
      'The checks are red before anything is changed',
    );
    expect(values?.tasks[0]?.status).toBe('completed');
  });

  test('is checked by the command it names and by the checks, or by the review alone', async ({ db }) => {
    const world = await aWorld(db, {
      agents: {
        ...quiet,
        distill: async () =>
          planWith(
            { kind: 'checked-by', checkedBy: "cat 'docs/a b.md'" },
            { kind: 'checked-by', checkedBy: 'review' },
          ),
        implement: async ({ task, attempt }) =>
          work(
            file(
              attempt === 1 && task.name === 'Task 1'
                ? 'docs/other.md'
                : `docs/a b${task.name === 'Task 1' ? '' : '2'}.md`,
              'a',
            ),
          ),
      },
    });
    const { status, values } = await driveToTheEnd(world);
    expect(status).toBe('completed');
    // The command runs on what is there before the work, too: green there, it would show nothing.
    const named = 'command cat docs/a b.md';
    expect(world.runs).toEqual([named, 'ok', named, named, 'ok', named, 'ok']);
    expect(values?.tasks.map(({ findings }) => findings)).toEqual([undefined, undefined]);
    expect(values?.agentLogs[0]?.content).toMatchObject({
      action: 'implement',
      observation: 'cat docs/a b.md\nfalse',
    });
  });
});
