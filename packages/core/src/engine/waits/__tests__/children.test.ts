import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Annotation, END, GraphDrained, interrupt, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { ada, twoBranches, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';
import { child, sleep, waitFor } from '../../node/waitFor.ts';
import { SqliteSaver } from '../../saver/SqliteSaver.ts';
import { AClock, HOUR } from './aClock.ts';

const State = Annotation.Root({ topic: Annotation<string>(), found: Annotation<string>() });

/** A graph of one node. */
const one = (work: (topic: string) => Promise<string> | string) =>
  new StateGraph(State)
    .addNode('work', async ({ topic }) => ({ found: await work(topic) }))
    .addEdge(START, 'work')
    .addEdge('work', END);

describe('child()', () => {
  test('begins a run, drives it, and returns what came of it', async ({ db }) => {
    const below = durable(
      one((topic) => `all of ${topic}`),
      { db },
    );
    const app = durable(
      twoSteps(async () => {
        const { status, reason, values } = await child(below, 'c', { topic: 'tea' });
        return { log: [status, String(reason), values?.found ?? ''] };
      }),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({
      status: 'completed',
      values: { log: ['completed', 'null', 'all of tea', 'second'] },
    });
    expect(await below.run('c')).toMatchObject({ status: 'completed', values: { found: 'all of tea' } });
    expect(await app.run('p')).not.toHaveProperty('children');
  });

  test('gives its parent in every execution what it failed with, also once somebody drove it on and pruned it', async ({
    db,
  }) => {
    let fails = true;
    const below = durable(
      one((topic) => {
        if (fails) throw new Error('Not yet.');
        return `all of ${topic}`;
      }),
      { db },
    );
    const app = durable(
      twoSteps(async () => {
        const { status, values } = await child(below, 'c', { topic: 'tea' });
        return { log: [`${status}, ${values?.topic}, ${values?.found}: ${String(interrupt('Well?'))}`] };
      }),
      { db },
    );
    const gate = only((await app.run('p', {})).gates);
    fails = false;
    expect((await below.run('c')).status).toBe('completed');
    await new SqliteSaver(db).prune('c', { keepLast: 1 });
    await app.decide(gate, { value: 'yes', by: ada });
    expect((await app.run('p')).values?.log[0]).toBe('failed, tea, undefined: yes');
  });

  test('of which the last checkpoint is missing is no child that found nothing', async ({ db }) => {
    const below = durable(
      one((topic) => `all of ${topic}`),
      { db },
    );
    const app = durable(
      twoSteps(async () => {
        const { values } = await child(below, 'c', { topic: 'tea' });
        return { log: [`${values?.found}: ${String(interrupt('Well?'))}`] };
      }),
      { db },
    );
    const gate = only((await app.run('p', {})).gates);
    await app.decide(gate, { value: 'yes', by: ada });
    db.exec("DELETE FROM checkpoints WHERE seq = (SELECT max(seq) FROM checkpoints WHERE thread_id = 'c')");
    const missing = {
      code: 'STATE_CORRUPT',
      message: expect.stringContaining('last checkpoint of run "c" is missing') as string,
    };
    await expect(app.run('p')).rejects.toMatchObject(missing);
  });

  test('of which it is missing before its parent was told is not taken for one that ended earlier', async ({
    db,
  }) => {
    const below = durable(
      one((topic) => `all of ${topic}: ${String(interrupt('Well?'))}`),
      { db },
    );
    const app = durable(
      twoSteps(async () => ({ log: [`${(await child(below, 'c', { topic: 'tea' })).values?.found}`] })),
      { db },
    );
    await app.run('p', {});
    await below.decide(only(await below.gates('c')), { value: 'yes', by: ada });
    expect((await below.run('c')).status).toBe('completed');
    db.exec("DELETE FROM checkpoints WHERE seq = (SELECT max(seq) FROM checkpoints WHERE thread_id = 'c')");
    await expect(app.run('p')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
  });

  test('begins none once its node has thrown, though a call beside it was in flight', async ({ db }) => {
    const below = durable(
      one(() => expect.fail('it was begun')),
      { db },
    );
    let left: unknown = null;
    const begun = new EventEmitter();
    const inFlight = async () => {
      await step('in flight', () => {
        begun.emit('begun');
        return setTimeout(20);
      });
      left = await child(below, 'c', { topic: 'tea' }).catch((error: unknown) => error);
    };
    const app = durable(
      twoSteps(async () => {
        const fails = once(begun, 'begun').then(() => Promise.reject(new Error('flaky')));
        await Promise.all([fails, inFlight()]);
        return {};
      }),
      { db },
    );
    expect((await app.run('p', {}, { throwOnFailure: false })).reason).toContain('flaky');
    await expect.poll(() => left).not.toBeNull();
    expect(left).toBeInstanceOf(GraphDrained);
    expect(internalsOf(app).store.threads.get('c')).toBeNull();
  });

  test('drives children side by side, each once', async ({ db }) => {
    const called: string[] = [];
    let both = 0;
    let release: () => void = () => {};
    const met = new Promise<void>((resolve) => {
      release = resolve;
    });
    const below = durable(
      one(async (topic) => {
        await step('look', async () => {
          called.push(topic);
          both += 1;
          if (both === 2) release();
          await met;
        });
        return topic;
      }),
      { db },
    );
    const app = durable(
      twoSteps(async () => {
        const ended = await Promise.all([
          child(below, 'a', { topic: 'a' }),
          child(below, 'b', { topic: 'b' }),
        ]);
        return { log: ended.map(({ values }) => values?.found ?? '') };
      }),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({ values: { log: ['a', 'b', 'second'] } });
    expect(called.sort()).toEqual(['a', 'b']);
  });

  test('that waits at a gate leaves its parent suspended, and goes on with it', async ({ db }) => {
    const below = durable(
      one(() => String(interrupt('Which?'))),
      { db },
    );
    const app = durable(
      twoSteps(async () => ({ log: [(await child(below, 'c', { topic: 'x' })).values?.found ?? ''] })),
      { db },
    );
    const ran = await app.run('p', {});
    expect(ran).toMatchObject({ status: 'waiting', gates: [], children: ['c'] });
    expect(await app.run('p')).toMatchObject({ status: 'waiting', children: ['c'] });
    expect((await app.runDue()).driven).toEqual([]);
    await below.decide(only(await below.gates('c')), { value: 'tea', by: ada });
    expect(await app.run('p')).toMatchObject({ status: 'completed', values: { log: ['tea', 'second'] } });
  });

  test('is driven by anybody, and wakes its parent with its end', async ({ db }) => {
    const below = durable(
      one(() => String(interrupt('Which?'))),
      { db },
    );
    const app = durable(
      twoSteps(async () => ({ log: [(await child(below, 'c', { topic: 'x' })).values?.found ?? ''] })),
      { db },
    );
    await app.run('p', {});
    await below.decide(only(await below.gates('c')), { value: 'tea', by: ada });
    const { wakeSeq } = internalsOf(app).store.threads.require('p');
    expect(await below.run('c')).toMatchObject({ status: 'completed' });
    expect(internalsOf(app).store.threads.require('p').wakeSeq).toBe(wakeSeq + 1);
    expect(only((await app.runDue()).driven)).toMatchObject({ id: 'p', status: 'completed' });
  });

  test('that sleeps says until when, and is due with its parent', async ({ db }) => {
    const clock = new AClock();
    const now = clock.now;
    const below = durable(
      one(async () => {
        await sleep(HOUR);
        return 'slept';
      }),
      { db, now },
    );
    const app = durable(
      twoSteps(async () => ({ log: [(await child(below, 'c', { topic: 'x' })).values?.found ?? ''] })),
      { db, now },
    );
    expect(await app.run('p', {})).toMatchObject({ until: clock.at + HOUR, children: ['c'] });
    expect(await app.runDue()).toEqual({ driven: [], refused: [] });
    clock.step(HOUR);
    // As another process would: it knows no app of the child yet.
    const { driven, refused } = await app.runDue();
    expect(refused).toEqual([]);
    expect(only(driven)).toMatchObject({
      id: 'p',
      status: 'completed',
      values: { log: ['slept', 'second'] },
    });
  });

  test('is waited for with its parent, at its gates, too', async ({ db }) => {
    const below = durable(
      one(() => String(interrupt('Which?'))),
      { db },
    );
    const app = durable(
      twoSteps(async () => ({ log: [(await child(below, 'c', { topic: 'x' })).values?.found ?? ''] })),
      { db },
    );
    const running = app.run('p', {}, { wait: true });
    const gate = await vi.waitFor(async () => only(await below.gates('c')), 30_000);
    await below.decide(gate, { value: 'tea', by: ada });
    expect(await running).toMatchObject({ status: 'completed', values: { log: ['tea', 'second'] } });
  });

  test('that failed is told, and not thrown', async ({ db }) => {
    const below = durable(
      one(() => {
        throw new Error('no tea');
      }),
      { db },
    );
    const app = durable(
      twoSteps(async () => {
        const { status, reason } = await child(below, 'c', { topic: 'x' });
        return { log: [status, String(reason)] };
      }),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({
      status: 'completed',
      values: { log: ['failed', 'no tea', 'second'] },
    });
  });

  test('has the end that was told first, though it was tried again since', async ({ db }) => {
    let tries = 0;
    const below = durable(
      one(() => {
        tries += 1;
        if (tries === 1) throw new Error('no luck');
        return 'luck';
      }),
      { db },
    );
    const app = durable(
      twoSteps(async () => {
        const first = await child(below, 'c', { topic: 'tea' });
        await waitFor('go');
        const second = await child(below, 'c', { topic: 'tea' });
        return { log: [first.status, second.status] };
      }),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({ status: 'waiting', waitsFor: ['go'] });
    expect(await below.run('c')).toMatchObject({ status: 'completed', values: { found: 'luck' } });
    await app.signal('p', 'go', null, { by: ada, signalId: '1' });
    expect((await app.run('p')).values?.log).toEqual(['failed', 'failed', 'second']);
  });

  test('that another process drives is no reason to drive its parent', async ({ db }) => {
    const below = durable(
      one((topic) => String(interrupt(topic))),
      { db },
    );
    const app = durable(
      twoSteps(async () => ({ log: [(await child(below, 'c', { topic: 'tea' })).values?.found ?? ''] })),
      { db },
    );
    await app.run('p', {});
    await below.decide(only(await below.gates('c')), { value: 'green', by: ada });
    await internalsOf(below).withLease('c', async () => {
      expect(await app.runDue()).toEqual({ driven: [], refused: [] });
    });
    expect(only((await app.runDue()).driven)).toMatchObject({ id: 'p', status: 'completed' });
  });

  test('that can go on is no reason to drive a parent that somebody has paused', async ({ db }) => {
    let visits = 0;
    const below = durable(
      one((topic) => topic),
      { db },
    );
    const app = durable(
      twoBranches(
        async () => ({ log: [(await child(below, 'c', { topic: 'tea' })).values?.found ?? ''] }),
        async () => {
          visits += 1;
          await step('pause', () => app.pause('p'));
          for (let beat = 0; visits === 1; beat += 1) await step(`beat ${beat}`, () => setTimeout(20));
          return {};
        },
      ),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({ status: 'paused', reason: 'pause' });
    expect(internalsOf(app).store.threads.require('c').status).toBe('created');
    expect(await app.runDue()).toEqual({ driven: [], refused: [] });
    expect(await app.run('p')).toMatchObject({ status: 'completed' });
  });

  test('has children of its own', async ({ db }) => {
    const leaf = durable(
      one((topic) => `leaf ${topic}`),
      { db },
    );
    const middle = durable(
      one(async (topic) => (await child(leaf, `${topic}/leaf`, { topic })).values?.found ?? ''),
      { db },
    );
    const app = durable(
      twoBranches(
        async () => ({ log: [(await child(middle, 'l', { topic: 'l' })).values?.found ?? ''] }),
        async () => ({ log: [(await child(middle, 'r', { topic: 'r' })).values?.found ?? ''] }),
      ),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({ values: { log: ['start', 'leaf l', 'leaf r'] } });
  });

  test('is found where it is waited for again, and given one input', async ({ db }) => {
    let made = 0;
    const below = durable(
      one(async (topic) => {
        await step('make', () => {
          made += 1;
        });
        return topic;
      }),
      { db },
    );
    const call = async () => ({ log: [(await child(below, 'c', { topic: 'x' })).values?.found ?? ''] });
    const other = async () => {
      await expect(child(below, 'c', { topic: 'y' })).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
      return call();
    };
    const app = durable(twoSteps(call, other), { db });
    expect(await app.run('p', {})).toMatchObject({ status: 'completed', values: { log: ['x', 'x'] } });
    expect(made).toBe(1);
  });

  test('has one parent, and is no run of its own', async ({ db }) => {
    const below = durable(
      one((topic) => topic),
      { db },
    );
    await below.run('own', { topic: 'x' });
    const refused: string[] = [];
    const top = durable(
      twoSteps(async () => {
        for (const id of ['own', 'p', 'grandparent', 'other'])
          await child(below, id, { topic: 'x' }).catch((error: { code: string }) => refused.push(error.code));
        return {};
      }),
      { db },
    );
    const first = durable(
      twoSteps(async () => {
        await child(below, 'other', { topic: 'x' });
        await child(top, 'p', {});
        return {};
      }),
      { db },
    );
    expect(await first.run('grandparent', {})).toMatchObject({ status: 'completed' });
    expect(refused).toEqual(Array.from({ length: 4 }, () => 'CHILD_NOT_TAKEN'));
    await expect(below.run('other', { topic: 'x' }, { turn: 'm-1' })).rejects.toMatchObject({
      code: 'INPUT_NOT_TAKEN',
    });
  });

  test('is a mistake where it cannot be begun, before anything is written', async ({ db, dbPath }) => {
    const below = durable(
      one((topic) => topic),
      { db },
    );
    const elsewhere = durable(
      one((topic) => topic),
      { file: `${dbPath}-other` },
    );
    await expect(child(below, 'c', { topic: 'x' })).rejects.toThrow(TypeError);
    const app = durable(
      twoSteps(async () => {
        await expect(child(elsewhere, 'c', { topic: 'x' })).rejects.toThrow('same state file');
        await expect(child({} as typeof below, 'c', { topic: 'x' })).rejects.toThrow(
          'as returned by durable()',
        );
        await expect(child(below, '', { topic: 'x' })).rejects.toThrow(TypeError);
        await step('call', async () => {
          await expect(child(below, 'c', { topic: 'x' })).rejects.toThrow(TypeError);
        });
        return {};
      }),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({ status: 'completed' });
    expect(db.prepare('SELECT count(*) FROM child_runs').pluck().get()).toBe(0);
    elsewhere.close();
  });

  test('may be of an app with a connection of its own', async ({ db, dbPath }) => {
    const below = durable(
      one((topic) => topic),
      { db: createDatabase({ dbPath }) },
    );
    const app = durable(
      twoSteps(async () => ({ log: [(await child(below, 'c', { topic: 'tea' })).values?.found ?? ''] })),
      { db },
    );
    expect(await app.run('p', {})).toMatchObject({ values: { log: ['tea', 'second'] } });
    internalsOf(below).store.db.close();
  });
});
