import { classifyError, type DevsError } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { Patience, type PatienceOptions } from '../Patience.ts';

const MINUTE = 60_000;

/** A clock that only waiting moves, and what was said meanwhile. */
function aClock(options: Pick<PatienceOptions, 'maxWaitMs'> = {}) {
  let now = Date.UTC(2026, 2, 2, 14, 30);
  const begun = now;
  const waits: number[] = [];
  const said: string[] = [];
  const patience = new Patience({
    ...options,
    now: () => now,
    wait: async (ms) => {
      waits.push(ms);
      now += ms;
    },
  });
  const call = {
    name: 'openai:gpt-5',
    signal: new AbortController().signal,
    onActivity: (activity: { readonly kind: string; readonly what?: string }) =>
      said.push(activity.what ?? ''),
  };
  const ask = <T>(request: () => Promise<T>): Promise<T> => patience.ask(request, call);
  return { ask, waits, said, elapsed: () => now - begun };
}

const refused = (more: object = {}, message = '429 Slow down'): Error =>
  Object.assign(new Error(message), { status: 429, ...more });

/** Refuses so often, then answers. */
function refusing(times: number, error: () => Error = refused): () => Promise<string> {
  let left = times;
  return async () => {
    left -= 1;
    if (left >= 0) throw error();
    return 'answer';
  };
}

describe('patience with a provider', () => {
  test('that refuses without a word of when: ever longer waits, each of them said', async () => {
    const clock = aClock();
    await expect(clock.ask(refusing(9))).resolves.toBe('answer');
    expect(clock.waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000));
    expect(clock.said[0]).toBe(
      'openai:gpt-5 takes no more requests (429): waiting 1 s, 30 min at most after that',
    );
    expect(clock.said).toHaveLength(9);
  });

  test('that refuses for ever: within the bound, and then no retry of the engine begins it anew', async () => {
    const clock = aClock();
    const error = await clock.ask(refusing(1_000)).catch((thrown: unknown) => thrown as DevsError);
    expect(error).toMatchObject({
      code: 'AGENT_FAILED',
      message: expect.stringContaining('min of waiting'),
      remedy: expect.stringContaining('--max-wait'),
    });
    expect(clock.elapsed()).toBeLessThanOrEqual(30 * MINUTE);
    expect(clock.elapsed()).toBeGreaterThan(29 * MINUTE);
    expect((error as DevsError).context['waitedMs']).toBe(clock.elapsed());
    expect((error as DevsError).context).not.toHaveProperty('retryAt');
  });

  test('that names a time within the bound: as long as it asks for', async () => {
    const clock = aClock();
    await clock.ask(refusing(1, () => refused({ retryAfterMs: 12 * MINUTE })));
    await clock.ask(refusing(1, () => refused({}, '429 Please try again in 6m0s.')));
    await clock.ask(refusing(1, () => refused({ headers: new Headers({ 'retry-after': '30' }) })));
    expect(clock.waits).toEqual([12 * MINUTE, 6 * MINUTE, 30_000]);
  });

  test('that names an hour past the bound: at once, with the hour', async () => {
    const clock = aClock();
    const late = (): Error => refused({ headers: { 'retry-after': 'Mon, 02 Mar 2026 20:00:00 GMT' } });
    await expect(clock.ask(refusing(1, late))).rejects.toMatchObject({
      code: 'AGENT_FAILED',
      context: { waitedMs: 0, retryAt: '2026-03-02T20:00:00.000Z' },
      remedy: expect.stringContaining('2026-03-02T20:00:00.000Z'),
    });
    expect(clock.waits).toEqual([]);
  });

  test('whose refusal is wrapped, or known by its words alone', async () => {
    const clock = aClock();
    const wrapped = (): Error => new Error('The call failed.', { cause: refused() });
    const words = (): Error => new Error('claude ended: Claude AI usage limit reached|1772462400');
    await clock.ask(refusing(1, wrapped));
    await clock.ask(refusing(1, words));
    expect(clock.waits.length).toBe(2);
  });

  test('that fails otherwise: none', async () => {
    const clock = aClock();
    for (const error of [
      Object.assign(new Error('Bad key'), { status: 401 }),
      Object.assign(new Error('Down'), { status: 503 }),
      new Error('the function rate_limit(429) is missing'),
    ]) {
      await expect(clock.ask(refusing(1, () => error))).rejects.toBe(error);
    }
    expect(clock.waits).toEqual([]);
  });

  test('ends with the call', async () => {
    const stop = new AbortController();
    const patience = new Patience();
    const asked = patience.ask(refusing(1), { name: 'a', signal: stop.signal });
    stop.abort(new Error('stopped'));
    await expect(asked).rejects.toThrow('stopped');
  });

  test('of 0 waits for nothing', async () => {
    const clock = aClock({ maxWaitMs: 0 });
    const error = await clock.ask(refusing(1)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'AGENT_FAILED', context: { waitedMs: 0 } });
    expect(classifyError(error)).toBe('transient');
    expect(() => new Patience({ maxWaitMs: -1 })).toThrow(RangeError);
  });
});
