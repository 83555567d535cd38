import { END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { localHost } from '../../../state/threads/hostIdentity.ts';
import { ThreadStore } from '../../../state/threads/ThreadStore.ts';
import { OwnState } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';

/** A promise that a test keeps. */
function waiting(): { readonly promise: Promise<void>; readonly keep: () => void } {
  let keep = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    keep = resolve;
  });
  return { promise, keep };
}

const dead = { ...localHost(), pid: 2 ** 30, isProcessAlive: () => false };

/** Its driver has died in its first node. */
function dies(db: Database, id: string, drivers = 1): void {
  const threads = new ThreadStore(db, { host: dead });
  for (let nth = 0; nth < drivers; nth += 1) {
    const claim = threads.claim(id);
    if (claim.kind === 'busy') throw new Error('The dead driver counts as alive.');
    threads.begin(claim.lease, { recovered: claim.recovered });
    threads.markWorked(claim.lease);
  }
}

/** Of two nodes: what the first one does is up to the test. */
function app(db: Database, first: (run: string) => Promise<void>, second = first) {
  const node = (act: typeof first) => async (_: typeof OwnState.State, config: { configurable?: object }) => {
    await act(String(Object(config.configurable).thread_id));
    return { log: ['done'] };
  };
  const builder = new StateGraph(OwnState)
    .addNode('first', node(first))
    .addNode('second', node(second))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', END);
  return durable(builder, { db });
}

/** Long enough for what may begin to have begun, ms. */
const A_WHILE = 200;
const aWhile = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, A_WHILE));

describe('a run whose driver has died', () => {
  test('once goes on at once, beside the others that were in that process', async ({ db }) => {
    const hold = waiting();
    const begun: string[] = [];
    const own = app(db, async (run) => {
      begun.push(run);
      await hold.promise;
    });
    const ids = ['held', 'left-1', 'left-2', 'left-3'];
    for (const id of ids) await own.start(id, {});
    for (const id of ids.slice(1)) dies(db, id);
    const stop = new AbortController();
    const worked = own.work({ signal: stop.signal });
    while (begun.length < ids.length) await new Promise(setImmediate);
    expect(begun.toSorted()).toEqual(ids);
    hold.keep();
    stop.abort();
    await worked;
  });
});

describe('a run whose drivers have died', () => {
  test('waits until its process drives nothing else, and is alone until it has made progress', async ({
    db,
  }) => {
    const [good, left, later] = [waiting(), { first: waiting(), second: waiting() }, waiting()];
    const begun: string[] = [];
    const acts =
      (node: 'first' | 'second') =>
      async (run: string): Promise<void> => {
        begun.push(`${run} ${node}`);
        if (run === 'good' && node === 'first') await good.promise;
        if (run === 'left') await left[node].promise;
        if (run === 'later' && node === 'first') await later.promise;
      };
    const own = app(db, acts('first'), acts('second'));
    for (const id of ['good', 'left', 'later']) await own.start(id, {});
    dies(db, 'left', 2);
    const runs = [own.run('good')];
    await aWhile();
    runs.push(own.run('left'));
    await aWhile();
    expect(begun).toEqual(['good first']);
    good.keep();
    await runs[0];
    await aWhile();
    runs.push(own.run('later'));
    await aWhile();
    expect(begun).toEqual(['good first', 'good second', 'left first']);
    left.first.keep();
    await aWhile();
    expect(begun.slice(3)).toEqual(['left second', 'later first']);
    left.second.keep();
    later.keep();
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual(Array(3).fill('completed'));
  });

  test('is not waited for by who drives what is due: good ones are first, and others may take it', async ({
    db,
  }) => {
    const hold = waiting();
    const own = app(db, (run) => (run === 'held' ? hold.promise : Promise.resolve()));
    for (const id of ['held', 'left-more', 'left-twice']) await own.start(id, {});
    dies(db, 'left-more', 3);
    dies(db, 'left-twice', 2);
    const held = own.run('held');
    await aWhile();
    expect(await own.runDue()).toEqual({ driven: [], refused: [] });
    hold.keep();
    await held;
    const { driven } = await own.runDue();
    expect(driven.map(({ id, status }) => [id, status])).toEqual([
      ['left-twice', 'completed'],
      ['left-more', 'completed'],
    ]);
  });

  test('waits no more once it is told to leave', async ({ db }) => {
    const [hold, leaving] = [waiting(), new AbortController()];
    const own = app(db, (run) => (run === 'held' ? hold.promise : Promise.resolve()));
    for (const id of ['held', 'left']) await own.start(id, {});
    dies(db, 'left', 2);
    const held = own.run('held');
    const left = own.run('left', undefined, { drain: leaving.signal });
    await aWhile();
    leaving.abort();
    expect(await left).toMatchObject({ status: 'running', reason: 'it is not due' }); // as its driver has left it
    expect(new ThreadStore(db).deathsOf('left')).toBe(2);
    hold.keep();
    await held;
  });

  test('has made no progress because it was begun again: once a node has returned it has', async ({ db }) => {
    const deaths: number[] = [];
    const own = app(db, async (run) => void deaths.push(new ThreadStore(db).deathsOf(run)));
    await own.start('run', {});
    dies(db, 'run', 2);
    await own.run('run');
    expect(deaths).toEqual([2, 0]);
  });
});
