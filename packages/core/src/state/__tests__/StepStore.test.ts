import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { leaseFence, NO_FENCE } from '../commits/immediateTransaction.ts';
import { doctor } from '../doctor/doctor.ts';
import { StepStore } from '../steps/StepStore.ts';
import type { NewStep } from '../steps/stepRecords.ts';
import { ThreadStore } from '../threads/ThreadStore.ts';
import { aHost, aThread } from './aThread.ts';

function aStep(overrides: Partial<NewStep> = {}): NewStep {
  return { threadId: 'run-1', lgTaskId: 'lg-1', name: 'call', node: 'research', taskId: null, ...overrides };
}

const countBlobs = (db: Database): unknown => db.prepare('SELECT count(*) FROM state_blobs').pluck().get();

describe('a step', () => {
  test('is unknown, then begun, then finished with its result', ({ db }) => {
    const steps = new StepStore(db, { now: () => 7 });
    expect(steps.find(aStep())).toBeNull();
    expect(steps.intent(aStep(), NO_FENCE)).toBe(1);
    expect(steps.find(aStep())).toEqual({ state: 'intent', attempt: 1 });
    steps.finish(aStep(), { documents: ['a'] }, { tokensIn: 10, costUsd: 0.5 }, NO_FENCE);
    expect(steps.find(aStep())).toEqual({
      state: 'done',
      attempt: 1,
      result: { documents: ['a'] },
      usage: { tokensIn: 10, costUsd: 0.5 },
      finishedAt: 7,
    });
  });

  test('that was in flight is begun again and says how often', ({ db }) => {
    const steps = new StepStore(db);
    steps.intent(aStep(), NO_FENCE);
    expect(steps.intent(aStep(), NO_FENCE)).toBe(2);
    expect(steps.intent(aStep(), NO_FENCE)).toBe(3);
    expect(steps.find(aStep())).toEqual({ state: 'intent', attempt: 3 });
  });

  test('that is begun again holds back what it says now', ({ db }) => {
    const steps = new StepStore(db);
    for (const reserve of [
      { usd: 1, tokens: 10 },
      { usd: 2, tokens: 20 },
    ])
      steps.intent(aStep({ reserve }), NO_FENCE);
    const held = { reservedUsd: 2, reservedTokens: 20 };
    expect(steps.spendingBefore(aStep({ name: 'other' }), null)).toMatchObject(held);
  });

  test('that is finished is neither begun nor finished again', ({ db }) => {
    const steps = new StepStore(db);
    steps.intent(aStep(), NO_FENCE);
    steps.finish(aStep(), 'first', {}, NO_FENCE);
    expect(() => steps.intent(aStep(), NO_FENCE)).toThrow(RangeError);
    expect(() => steps.finish(aStep(), 'second', {}, NO_FENCE)).toThrow(RangeError);
    expect(steps.find(aStep())).toMatchObject({ attempt: 1, result: 'first' });
  });

  test('whose recorded result was changed in the file is refused, not replayed', ({ db }) => {
    const steps = new StepStore(db);
    steps.intent(aStep(), NO_FENCE);
    steps.finish(aStep(), { price: 10 }, {}, NO_FENCE);
    db.prepare(`UPDATE agent_steps SET result_json = '{"price":90}'`).run();
    expect(() => steps.find(aStep())).toThrow(expect.objectContaining({ code: 'STATE_CORRUPT' }));
    expect(doctor(db).findings).toContainEqual(
      expect.objectContaining({ table: 'agent_steps', severity: 'error' }),
    );
  });

  test('cannot be finished before it was begun', ({ db }) => {
    expect(() => new StepStore(db).finish(aStep(), 1, {}, NO_FENCE)).toThrow(RangeError);
  });

  test('is its own in each visit and under each name', ({ db }) => {
    const steps = new StepStore(db);
    for (const step of [
      aStep(),
      aStep({ name: 'b' }),
      aStep({ lgTaskId: 'lg-2' }),
      aStep({ threadId: 'run-2' }),
    ]) {
      expect(steps.intent(step, NO_FENCE)).toBe(1);
    }
  });
});

describe('a result', () => {
  test('may be undefined or null, and the two stay apart', ({ db }) => {
    const steps = new StepStore(db);
    for (const [name, result] of [
      ['none', undefined],
      ['null', null],
    ] as const) {
      steps.intent(aStep({ name }), NO_FENCE);
      steps.finish(aStep({ name }), result, {}, NO_FENCE);
      expect(steps.find(aStep({ name }))).toMatchObject({ state: 'done', result });
    }
  });

  test('up to 512 bytes lies in the row, a larger one in a blob', ({ db }) => {
    const steps = new StepStore(db);
    const quotes = 2;
    const small = 'x'.repeat(512 - quotes);
    const large = `${small}é`;
    for (const result of [small, large]) {
      const name = String(result.length);
      steps.intent(aStep({ name }), NO_FENCE);
      steps.finish(aStep({ name }), result, {}, NO_FENCE);
      expect(steps.find(aStep({ name }))).toMatchObject({ result });
      expect(countBlobs(db)).toBe(result === small ? 0 : 1);
    }
  });

  test('that is no plain JSON is refused and the step stays an intent', ({ db }) => {
    const steps = new StepStore(db);
    steps.intent(aStep(), NO_FENCE);
    for (const bad of [new Date(0), new Map(), { at: Number.NaN }, [undefined], () => 1]) {
      expect(() => steps.finish(aStep(), bad, {}, NO_FENCE)).toThrow(
        expect.objectContaining({ code: 'VALUE_NOT_STORABLE' }),
      );
    }
    expect(steps.find(aStep())).toEqual({ state: 'intent', attempt: 1 });
  });

  test('comes back equal, whatever JSON it is', ({ db }) => {
    const steps = new StepStore(db);
    let count = 0;
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/__proto__|constructor|prototype/.test(text)); // keys the store refuses
        const name = `step-${count++}`;
        const json: unknown = JSON.parse(text); // -0 is written as 0
        steps.intent(aStep({ name }), NO_FENCE);
        steps.finish(aStep({ name }), json, {}, NO_FENCE);
        expect(steps.find(aStep({ name }))).toMatchObject({ state: 'done', result: json });
      }),
      { numRuns: 100 },
    );
  });
});

describe('under a lease', () => {
  test('a replaced driver can neither begin nor finish a step', ({ db }) => {
    const host = aHost();
    const threads = new ThreadStore(db, { host });
    threads.create(aThread());
    threads.claim('run-1');
    const fence = leaseFence(db, { threadId: 'run-1', epoch: 1 });
    const steps = new StepStore(db);
    steps.intent(aStep(), fence);

    host.clock = 10_000;
    threads.claim('run-1');
    const lost = expect.objectContaining({ code: 'LEASE_LOST' });
    expect(() => steps.intent(aStep({ name: 'next' }), fence)).toThrow(lost);
    expect(() => steps.finish(aStep(), 'x'.repeat(9_000), {}, fence)).toThrow(lost);
    expect(steps.find(aStep())).toEqual({ state: 'intent', attempt: 1 });
    expect(steps.find(aStep({ name: 'next' }))).toBeNull();
    expect(countBlobs(db)).toBe(0);
  });
});

describe('a run', () => {
  test('lists its steps, oldest first, without their results', ({ db }) => {
    let now = 0;
    const steps = new StepStore(db, { now: () => ++now });
    steps.intent(aStep({ name: 'z', taskId: 'run-1:1' }), NO_FENCE);
    steps.intent(aStep({ name: 'a' }), NO_FENCE);
    steps.finish(aStep({ name: 'z' }), 'secret', { tokensOut: 3 }, NO_FENCE);
    steps.intent(aStep({ threadId: 'run-2' }), NO_FENCE);
    expect(steps.listForThread('run-1')).toEqual([
      {
        ...aStep({ name: 'z', taskId: 'run-1:1' }),
        kind: 'call',
        state: 'done',
        attempt: 1,
        usage: { tokensOut: 3 },
        requests: 1,
        startedAt: 1,
        finishedAt: 3,
      },
      {
        ...aStep({ name: 'a' }),
        kind: 'call',
        state: 'intent',
        attempt: 1,
        usage: {},
        requests: 0,
        startedAt: 2,
        finishedAt: null,
      },
    ]);
  });

  test('adds up what its calls cost; the cost of one that reported none is unknown', ({ db }) => {
    const steps = new StepStore(db);
    const usages = [{ tokensIn: 1, tokensOut: 2, costUsd: 0.25 }, { costUsd: 0.5, requests: 4 }, {}];
    for (const [index, usage] of usages.entries()) {
      steps.intent(aStep({ name: `s${index}` }), NO_FENCE);
      steps.finish(aStep({ name: `s${index}` }), null, usage, NO_FENCE);
    }
    steps.intent(aStep({ name: 'open' }), NO_FENCE);
    expect(steps.costOf('run-1')).toEqual({
      tokensIn: 1,
      tokensOut: 2,
      costUsd: 0.75,
      calls: 2,
      requests: 6,
      unpriced: 1,
    });
    const nothing = { tokensIn: 0, tokensOut: 0, costUsd: 0, calls: 0, requests: 0, unpriced: 0 };
    expect(steps.costOf('nothing')).toEqual(nothing);
  });
});

test('calls in flight of a run that was set back count as made, and hold nothing back', ({ db }) => {
  const steps = new StepStore(db);
  steps.intent(aStep({ reserve: { usd: 2, tokens: 100 } }), NO_FENCE);
  steps.intent(aStep({ threadId: 'run-2' }), NO_FENCE);
  steps.abandon('run-1');
  expect(steps.spendingBefore(aStep({ name: 'other' }), null)).toMatchObject({
    calls: 1,
    reservedUsd: 0,
    reservedTokens: 0,
  });
  expect(steps.find(aStep())).toMatchObject({ state: 'failed' });
  expect(steps.find(aStep({ threadId: 'run-2' }))).toMatchObject({ state: 'intent' });
});
