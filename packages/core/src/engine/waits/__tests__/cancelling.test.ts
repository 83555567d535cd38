import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { ada, twoBranches, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { cancelRun, endCancelled } from '../../drive/signals.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';
import { child } from '../../node/waitFor.ts';

const State = Annotation.Root({ found: Annotation<string>() });

const one = (work: () => Promise<string> | string) =>
  new StateGraph(State)
    .addNode('work', async () => ({ found: await work() }))
    .addEdge(START, 'work')
    .addEdge('work', END);

/** Makes calls until the run is asked to stop. */
async function workOn(): Promise<never> {
  for (let beat = 0; ; beat += 1)
    await step(`beat ${beat}`, () => new Promise((resolve) => setTimeout(resolve, 20)));
}

const asking = () => one(() => String(interrupt('Which?')));

describe('cancel of a run', () => {
  test('reaches every run below it that has not ended', async ({ db }) => {
    const leaf = durable(asking(), { db });
    const middle = durable(
      one(async () => (await child(leaf, 'leaf', {})).status),
      { db },
    );
    const quick = durable(
      one(() => 'quick'),
      { db },
    );
    const app = durable(
      twoBranches(
        async () => ({ log: [(await child(middle, 'middle', {})).status] }),
        async () => ({ log: [(await child(quick, 'quick', {})).status] }),
      ),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({ status: 'waiting', children: ['middle'] });
    await app.cancel('p');
    expect(
      ['p', 'middle', 'leaf', 'quick'].map((id) => internalsOf(app).store.threads.require(id).status),
    ).toEqual(['cancelled', 'cancelled', 'cancelled', 'completed']);
    expect(await leaf.gates('leaf')).toEqual([]);
    expect(await app.run('p')).toMatchObject({ status: 'cancelled' });
  });

  test('while its children are driven ends them at their next safe point', async ({ db }) => {
    const made: string[] = [];
    const below = durable(
      one(async () => {
        await step('first', async () => {
          made.push('first');
          await app.cancel('p');
        });
        return workOn();
      }),
      { db },
    );
    const app = durable(
      twoSteps(async () => {
        await child(below, 'c', {});
        return {};
      }),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({ status: 'cancelled' });
    expect(internalsOf(app).store.threads.require('c').status).toBe('cancelled');
    expect(made).toEqual(['first']);
  });

  test('before a child is begun begins none', async ({ db }) => {
    const below = durable(asking(), { db });
    const app = durable(
      twoSteps(async () => {
        await app.cancel('p');
        await child(below, 'c', {});
        return {};
      }),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({ status: 'cancelled' });
    expect(internalsOf(app).store.threads.get('c')).toBeNull();
  });

  test('by a no at a gate of the parent reaches its children, too', async ({ db }) => {
    const below = durable(asking(), { db });
    const app = durable(
      twoBranches(async () => {
        await child(below, 'c', {});
        return {};
      }),
      { db, gates: { right: () => 'Go right?' } },
    );
    const { gates } = await app.run('p', {});
    await app.decide(only(gates), { approved: false, feedback: 'No.', by: ada });
    expect(await app.run('p')).toMatchObject({ status: 'cancelled' });
    expect(internalsOf(app).store.threads.require('c').status).toBe('cancelled');
  });

  test('of a child alone is told to its parent', async ({ db }) => {
    const below = durable(asking(), { db });
    const app = durable(
      twoSteps(async () => ({ log: [(await child(below, 'c', {})).status] })),
      { db },
    );
    await app.run('p', {});
    await below.cancel('c');
    expect(await app.run('p')).toMatchObject({
      status: 'completed',
      values: { log: ['cancelled', 'second'] },
    });
  });

  test('leaves a run that failed its children, for the next try', async ({ db }) => {
    let tries = 0;
    const below = durable(asking(), { db });
    const app = durable(
      twoBranches(
        async () => ({ log: [(await child(below, 'c', {})).values?.found ?? ''] }),
        () => {
          tries += 1;
          if (tries === 1) throw new Error('once');
          return { log: ['right'] };
        },
      ),
      { db },
    );
    expect(await app.run('p', {}, { throwOnFailure: false })).toMatchObject({ status: 'failed' });
    const ran = await app.run('p');
    expect(ran).toMatchObject({ status: 'waiting', children: ['c'] });
    await below.decide(only(await below.gates('c')), { value: 'tea', by: ada });
    expect(await app.run('p')).toMatchObject({ values: { log: ['start', 'tea', 'right'] } });
  });
});

describe('the next turn of a run', () => {
  test('that failed cancels the children it has left', async ({ db }) => {
    const below = durable(asking(), { db });
    const app = durable(
      twoBranches(
        async () => ({ log: [(await child(below, 'c', {})).status] }),
        async () => {
          const { status } = await vi.waitFor(() => internalsOf(app).store.threads.require('c'), 30_000);
          if (status !== 'cancelled') throw new Error('no');
          return {};
        },
      ),
      { db },
    );
    await internalsOf(below).recordRun({ threadId: 'unrelated', input: {} });
    expect(await app.run('p', {}, { throwOnFailure: false, turn: 'm-1' })).toMatchObject({
      status: 'failed',
    });
    expect(await app.run('p', {}, { turn: 'm-2' })).toMatchObject({ status: 'completed' });
    expect(['c', 'unrelated'].map((id) => internalsOf(app).store.threads.require(id).status)).toEqual([
      'cancelled',
      'created',
    ]);
  });
});

describe('removing a run', () => {
  test('takes what is below along, once all has ended', async ({ db }) => {
    const leaf = durable(asking(), { db });
    const middle = durable(
      one(async () => (await child(leaf, 'leaf', {})).status),
      { db },
    );
    const app = durable(
      twoSteps(async () => ({ log: [(await child(middle, 'middle', {})).status] })),
      { db },
    );
    await app.run('p', {});
    const remove = (id: string) =>
      internalsOf(app).withLease(id, async (lease) => internalsOf(app).store.remover.remove(lease));
    await expect(remove('p')).rejects.toMatchObject({
      code: 'REMOVE_REFUSED',
      context: { reason: 'child_not_ended' },
    });
    await leaf.cancel('leaf');
    await expect(remove('leaf')).rejects.toMatchObject({ context: { reason: 'parent_not_ended' } });
    await app.run('p');
    await remove('p');
    for (const table of ['threads', 'child_runs', 'waits', 'checkpoints'])
      expect([table, db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()]).toEqual([table, 0]);
  });
});

describe('a request to cancel', () => {
  test('is done once, and not in the turn that follows', async ({ db }) => {
    const app = durable(asking(), { db });
    const { store } = internalsOf(app);
    const status = () => store.threads.require('r').status;
    const cancel = (id: string) => cancelRun('r', { id, kind: 'cancel' }, { store });
    await app.run('r', {}, { turn: '1' });
    await cancel('x');
    expect(status()).toBe('cancelled');
    expect(await app.run('r', {}, { turn: '2' })).toMatchObject({ status: 'waiting' });
    await cancel('x');
    expect(status()).toBe('waiting');
    await cancel('y');
    expect(status()).toBe('cancelled');
  });

  test('that somebody has done meanwhile leaves the run as it stands', async ({ db }) => {
    const app = durable(asking(), { db });
    await app.run('r', {});
    await internalsOf(app).withLease('r', async (lease) =>
      endCancelled(lease, { store: internalsOf(app).store }),
    );
    expect(internalsOf(app).store.threads.require('r').status).toBe('waiting');
    expect(await app.gates('r')).toHaveLength(1);
  });
});

test('a child of a cancelled run is removed alone: nobody begins it anew', async ({ db }) => {
  const below = durable(asking(), { db });
  const app = durable(
    twoSteps(async () => ({ log: [(await child(below, 'c', {})).status] })),
    { db },
  );
  await app.run('p', {});
  await app.cancel('p');
  await internalsOf(app).withLease('c', async (lease) => internalsOf(app).store.remover.remove(lease));
  expect(internalsOf(app).store.threads.get('c')).toBeNull();
  expect(internalsOf(app).store.threads.require('p').status).toBe('cancelled');
});

describe('pause of a run', () => {
  test('pauses the children that its driver drives, and both go on', async ({ db }) => {
    let times = 0;
    const below = durable(
      one(async () => {
        times += 1;
        if (times > 1) return 'gone';
        await app.pause('p');
        return workOn();
      }),
      { db },
    );
    const app = durable(
      twoSteps(async () => ({ log: [(await child(below, 'c', {})).values?.found ?? ''] })),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({ status: 'paused' });
    expect(internalsOf(app).store.threads.require('c').status).toBe('paused');
    expect(await app.run('p')).toMatchObject({ status: 'completed', values: { log: ['gone', 'second'] } });
  });
});
