import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import type { ReviewRequest, StageAgents, TaskRequest } from '../ports.ts';
import { driveToTheEnd } from './aPipeline.ts';
import { aWorld, file, work } from './aWorld.ts';

type Told = Record<'writeTest' | 'implement' | 'document' | 'review', TaskRequest & Partial<ReviewRequest>>;

/** Agents that do a task by its name, and what each was told of the last one. */
function listening(told: Partial<Told>, others: Partial<StageAgents> = {}): Partial<StageAgents> {
  return {
    writeTest: async (request) => {
      told.writeTest = request;
      const { name } = request.task;
      return {
        ...work(file(`test/${name}.txt`, name)),
        read: [
          { path: 'src/long.txt', fromLine: 3, lines: 2 },
          { path: 'src/long.txt', fromLine: 4, lines: 2 },
          { path: 'src/gone.txt', fromLine: 1, lines: 1 },
          { path: `test/${name}.txt`, fromLine: 1, lines: 1 },
        ],
      };
    },
    implement: async (request) => {
      told.implement = request;
      return work(file(`src/${request.task.name}.txt`, request.task.name), file('src/long.txt', ...LONG));
    },
    document: async (request) => {
      told.document = request;
      return work(file('README.md', request.task.name));
    },
    review: async (request) => {
      told.review = request;
      return { approved: true, comments: '' };
    },
    ...others,
  };
}

const LONG = ['one', 'two', 'three', 'four', 'five', 'six'];

describe('a stage is told what those before it did', () => {
  test('of the second of two tasks: its test and how it fails, what was read, the other task, the work', async ({
    db,
  }) => {
    const told: Partial<Told> = {};
    const world = await aWorld(db, { tasks: 2, agents: listening(told) });
    expect(await driveToTheEnd(world)).toMatchObject({ status: 'completed' });

    const siblings = [{ label: 'T1', name: 'Task 1', state: 'done' }];
    for (const request of Object.values(told)) expect(request).toMatchObject({ siblings });
    expect(told.writeTest).not.toHaveProperty('test');
    expect(told.implement).toMatchObject({
      test: {
        files: ['test/Task 2.txt'],
        diff: expect.stringContaining('+Task 2'),
        red: { passed: false, output: 'not ok: Task 2' },
      },
      // As it stands now; what overlaps is one, what is gone and what the diff shows is left out.
      excerpts: [{ path: 'src/long.txt', fromLine: 3, content: 'three\nfour\nfive' }],
    });
    expect(told.implement).not.toHaveProperty('diff');
    expect(told.document?.diff).toContain('+Task 2');
    expect(told.document?.files?.map(({ path }) => path)).toEqual(['src/Task 2.txt', 'test/Task 2.txt']);
    expect(told.review?.files?.map(({ path }) => path)).toEqual([
      'README.md',
      'src/Task 2.txt',
      'test/Task 2.txt',
    ]);
  });

  test('of the first task: what the baseline said of the checks, and that another comes', async ({ db }) => {
    const told: Partial<Told> = {};
    const seen: TaskRequest[] = [];
    const world = await aWorld(db, {
      tasks: 2,
      agents: listening(told, {
        writeTest: async (request) => {
          seen.push(request);
          return work(file(`test/${request.task.name}.txt`, request.task.name));
        },
      }),
    });
    await driveToTheEnd(world);
    const [first] = seen;
    expect(first?.siblings).toEqual([{ label: 'T2', name: 'Task 2', state: 'to_come' }]);
    expect(told.implement?.excerpts).toBeUndefined();
  });

  test('that is asked again by another process is told the same', async ({ db }) => {
    const told: Partial<Told> = {};
    const asked: TaskRequest[] = [];
    const world = await aWorld(db, {
      agents: listening(told, {
        implement: async (request) => {
          asked.push(request);
          if (asked.length === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
          return work(file(`src/${request.task.name}.txt`, request.task.name));
        },
      }),
    });
    expect(await driveToTheEnd(world)).toMatchObject({ status: 'completed', values: { taskAttempts: 1 } });
    const [first, second] = asked.map(({ workspace: _workspace, ...request }) => request);
    expect(second).toEqual(first);
    expect(second?.test?.red?.output).toBe('not ok: Task 1');
  });
});
