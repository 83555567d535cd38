import { getEventListeners } from 'node:events';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { listOf } from '../../../test/support/listOf.ts';
import { onAbort } from '../../events/onAbort.ts';
import { durable } from '../app/durable.ts';
import { waitFor } from '../node/waitFor.ts';
import { twoSteps } from './ownGraph.ts';

const RUNS = Array.from({ length: 12 }, (_, at) => `run-${at}`);

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('one signal that all runs of a service are given', () => {
  test.for(['signal', 'abort', 'drain'] as const)(
    'as %s has one listener, and stops each of them',
    async (name, { db }) => {
      let inside = 0;
      let leave = (): void => {};
      const isLeft = new Promise<void>((resolve) => {
        leave = resolve;
      });
      const graph = twoSteps(async () => {
        inside += 1;
        await isLeft;
        return {};
      });
      const stop = new AbortController();
      const app = durable(graph, { db });
      const driven = RUNS.map((id) => app.run(id, {}, { [name]: stop.signal }));
      while (inside < RUNS.length) await new Promise(setImmediate);
      expect(listenersOf(stop.signal)).toBe(1);
      stop.abort();
      leave();
      const ended = await Promise.all(
        driven.map((run) => run.catch(({ name }: Error) => ({ status: name }))),
      );
      const how = name === 'drain' ? 'paused' : 'AbortError';
      expect(ended.map(({ status }) => status)).toEqual(RUNS.map(() => how));
    },
  );

  test('has one listener for all who read and drive a stream, and ends them', async ({ db }) => {
    const stop = new AbortController();
    const app = durable(
      twoSteps(async () => ({ answer: await waitFor('it') })),
      { db },
    );
    for (const id of RUNS) await app.run(id, { log: ['begun'] });
    const readers = RUNS.map((id) => app.stream(id, null, { streamMode: 'values', signal: stop.signal }));
    for (const reader of readers) await reader.next();
    const rest = readers.map(listOf);
    await new Promise(setImmediate);
    expect(listenersOf(stop.signal)).toBe(1);
    stop.abort();
    expect((await Promise.all(rest)).flat()).toEqual([]);
  });
});

describe('what is done once a signal is aborted', () => {
  test('is done once, at once where it is aborted, and not where it was taken back', () => {
    const done: string[] = [];
    const does = (what: string) => () => void done.push(what);
    const stop = new AbortController();
    onAbort(stop.signal, does('first'));
    onAbort(stop.signal, does('taken back'))();
    const again = does('twice');
    onAbort(stop.signal, again)();
    onAbort(stop.signal, again);
    stop.abort();
    stop.signal.dispatchEvent(new Event('abort'));
    expect(done).toEqual(['first', 'twice']);
    onAbort(stop.signal, does('late'));
    onAbort(undefined, does('never'))();
    expect(done).toEqual(['first', 'twice', 'late']);
  });
});
