import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import { fakeAgents } from '../../testing/index.ts';
import type { PlanResult, StageAgents, TaskRequest } from '../ports.ts';
import { aPipeline, driveToTheEnd, type PipelineOptions } from './aPipeline.ts';

const never = (): never => {
  throw new TypeError('cannot read x of undefined');
};

/** Agents with two strategies whose attempts throw until `isEnough`, with the requests of the attempts. */
function failing(isEnough: (request: TaskRequest) => boolean) {
  const fake = fakeAgents({ strategies: ['A', 'B', 'C', 'D'] });
  const attempts: TaskRequest[] = [];
  const strategies: string[] = [];
  const agents: Partial<StageAgents> = {
    implement: async (request, call) => {
      attempts.push(request);
      return isEnough(request) ? fake.implement(request, call) : never();
    },
    pivot: async (request, call) => {
      const result = (await fake.pivot?.(request, call)) ?? never();
      strategies.push(result.strategy);
      return result;
    },
  };
  return { attempts, strategies, agents };
}

/** Red until the first implementation is there. */
const checks: NonNullable<PipelineOptions['checks']> = {
  run: async () => ({ passed: false, exitCode: 1, timedOut: false, output: 'red', command: 'never' }),
};

const approve = { approved: true };

const aDraft = (key: string, dependsOn: readonly string[] = []) => ({
  key,
  name: `Task ${key}`,
  description: 'Do it.',
  dependsOn,
  requirements: ['REQ-1'],
  acceptanceCriteria: ['It is there.'],
});

/** A task, one that needs it, and one that does not. */
const PLAN: PlanResult = {
  requirements: [{ externalId: 'REQ-1', description: 'It works.' }],
  epics: [{ name: 'All', description: 'All.', tasks: [aDraft('1'), aDraft('2', ['1']), aDraft('3')] }],
};

describe('a task handed to a human because its pivots led to nothing', () => {
  test('tried again, has its guidance and pivots of its own, but none of the strategies tried before', async ({
    db,
  }) => {
    const { agents, attempts, strategies } = failing(() => false);
    const pipeline = await aPipeline(db, { tasks: 1, agents, checks });
    let answers = 0;
    await driveToTheEnd(pipeline, ({ kind }) => {
      if (kind !== 'task_failure') return approve;
      answers += 1;
      return answers === 1 ? { action: 'retry', guidance: 'Mind x.' } : { action: 'abort' };
    });
    expect(answers).toBe(2);
    expect(strategies).toEqual(['A', 'B', 'C', 'D']);
    expect(attempts.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: 18 }, (_, index) => index + 1),
    );
    expect(attempts.map(({ guidance }) => guidance.length)).toEqual([
      ...Array(9).fill(0),
      ...Array(9).fill(1),
    ]);
  });

  test('keeps the answer when the visit that took it throws', async ({ db }) => {
    const { agents, attempts } = failing(({ guidance, attempt }) => guidance.length > 0 && attempt > 10);
    const fake = fakeAgents();
    const pipeline = await aPipeline(db, {
      tasks: 1,
      agents: {
        ...agents,
        review: async () => ({ approved: true, comments: 'Fine.' }),
        document: fake.document,
      },
      checks: aliveAfter(() => attempts.length >= 11),
    });
    const { status, kinds } = await driveToTheEnd(pipeline, ({ kind }) =>
      kind === 'task_failure' ? { action: 'retry', guidance: 'Mind x.' } : approve,
    );
    expect([status, kinds.filter((kind) => kind === 'task_failure').length]).toEqual(['completed', 1]);
    expect(attempts.map(({ guidance }) => guidance.join()).slice(8)).toEqual(['', 'Mind x.', 'Mind x.']);
  });

  test('skipped, is no failure: the run ends completed, and says what it is without', async ({ db }) => {
    const { agents } = failing(() => false);
    const pipeline = await aPipeline(db, { tasks: 2, agents, checks });
    const result = await driveToTheEnd(pipeline, ({ kind }) =>
      kind === 'task_failure' ? { action: 'skip' } : approve,
    );
    expect(result).toMatchObject({
      status: 'completed',
      reason: 'without T1, skipped by a person, and T2, blocked by that',
      values: {
        status: 'completed',
        epics: [{ status: 'completed' }],
        tasks: [{ status: 'skipped' }, { status: 'blocked' }],
      },
    });
    const events = internalsOf(pipeline.app).store.log.list('shop', { afterSeq: 0 });
    expect(events.filter(({ name }) => name === 'TASK_SKIPPED')).toMatchObject([{ taskId: 'shop:1' }]);
    expect(events.some(({ name, payload }) => name === 'TASK_FAILED' && finalOf(payload))).toBe(false);
    expect(events.filter(({ name }) => name === 'TASK_BLOCKED')).toMatchObject([{ taskId: 'shop:2' }]);
  });

  test('skipped, is given up with its events too where the visit that took the answer throws', async ({
    db,
  }) => {
    const { agents } = failing(() => false);
    const pipeline = await aPipeline(db, { agents: { ...agents, distill: async () => PLAN }, checks });
    const { kinds } = await driveToTheEnd(pipeline, ({ kind }) =>
      kind === 'task_failure' ? { action: 'skip' } : approve,
    );
    expect(kinds.filter((kind) => kind === 'task_failure')).toHaveLength(2);
    const events = internalsOf(pipeline.app).store.log.list('shop', { afterSeq: 0 });
    const ends = events.filter(({ name }) => name === 'TASK_BLOCKED' || name === 'TASK_SKIPPED');
    expect(ends.map(({ name, taskId }) => `${name} ${taskId}`)).toEqual([
      'TASK_SKIPPED shop:1',
      'TASK_BLOCKED shop:2',
      'TASK_SKIPPED shop:3',
    ]);
  });

  test('aborted, ends the run with the human’s reason', async ({ db }) => {
    const { agents } = failing(() => false);
    const pipeline = await aPipeline(db, { tasks: 1, agents, checks });
    const abort = { action: 'abort', reason: 'The brief is wrong.' };
    expect(
      await driveToTheEnd(pipeline, ({ kind }) => (kind === 'task_failure' ? abort : approve)),
    ).toMatchObject({
      status: 'cancelled',
      reason: 'aborted by a human: The brief is wrong.',
    });
  });
});

describe('a run allowed to go on without progress', () => {
  test('is not asked again when the visit that took the answer throws', async ({ db }) => {
    let thrown = 0;
    const agents: Partial<StageAgents> = {
      implement: async () => {
        thrown += 1;
        throw new TypeError(`error ${'x'.repeat(thrown)}`);
      },
    };
    const pipeline = await aPipeline(db, { tasks: 1, agents, checks, config: { maxRecursionDepth: 5 } });
    let answers = 0;
    const { kinds } = await driveToTheEnd(pipeline, ({ kind }) => {
      if (kind !== 'recursion_limit') return approve;
      answers += 1;
      return answers < 3 ? { action: 'continue' } : { action: 'abort' };
    });
    expect(kinds.filter((kind) => kind === 'recursion_limit')).toHaveLength(3);
    expect(thrown).toBeGreaterThanOrEqual(6);
  });
});

const finalOf = (payload: unknown): boolean => (payload as { readonly final: boolean }).final;

/** Red, then as a turn expects it once `isAlive`. */
function aliveAfter(isAlive: () => boolean): typeof checks {
  return {
    run: async (request) => ({ ...(await checks.run(request)), passed: isAlive() }),
  };
}
