import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import {
  END,
  GraphDrained,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { ada, OwnState, says, twoBranches, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';
import { sleep, waitFor } from '../../node/waitFor.ts';
import { AClock, DAY, HOUR } from './aClock.ts';

const bank = { kind: 'policy', id: 'bank' } as const;

describe('sleep()', () => {
  test('suspends the run until its hour, and goes on where it was', async ({ db }) => {
    const clock = new AClock();
    const called: string[] = [];
    const graph = twoSteps(async () => {
      await step('before', () => called.push('before'));
      await sleep(HOUR);
      await step('after', () => called.push('after'));
      return { log: ['slept'] };
    });
    const app = durable(graph, { db, now: clock.now });
    const until = clock.at + HOUR;
    expect(await app.run('r', {})).toMatchObject({ status: 'waiting', gates: [], until });
    clock.step(HOUR - 1);
    expect(await app.run('r')).toMatchObject({ status: 'waiting', until });
    expect(await app.runDue()).toEqual({ driven: [], refused: [] });
    clock.step(1);
    const { driven } = await app.runDue();
    expect(only(driven)).toMatchObject({
      id: 'r',
      status: 'completed',
      values: { log: ['slept', 'second'] },
    });
    expect(called).toEqual(['before', 'after']);
    expect(only(driven)).not.toHaveProperty('until');
  });

  test('begins no wait once its node has thrown, though a call beside it was in flight', async ({ db }) => {
    let left: unknown = null;
    const begun = new EventEmitter();
    const inFlight = async () => {
      await step('in flight', () => {
        begun.emit('begun');
        return setTimeout(20);
      });
      left = await sleep(HOUR).catch((error: unknown) => error);
    };
    const graph = twoSteps(async () => {
      const fails = once(begun, 'begun').then(() => Promise.reject(new Error('flaky')));
      await Promise.all([fails, inFlight()]);
      return {};
    });
    const app = durable(graph, { db });
    expect(await app.run('r', {}, { throwOnFailure: false })).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('flaky'),
    });
    await expect.poll(() => left).not.toBeNull();
    expect(left).toBeInstanceOf(GraphDrained);
    expect(db.prepare('SELECT name FROM waits').all()).toEqual([]);
  });

  test('takes a date, and sleeps again and again in one node', async ({ db }) => {
    const clock = new AClock();
    const start = clock.at;
    const graph = twoSteps(async () => {
      await sleep(new Date(start + DAY));
      await sleep(HOUR);
      await sleep(HOUR);
      return {};
    });
    const app = durable(graph, { db, now: clock.now });
    expect(await app.run('r', {})).toMatchObject({ until: start + DAY });
    clock.step(2 * DAY);
    expect(await app.run('r')).toMatchObject({ until: start + 2 * DAY + HOUR });
    clock.step(HOUR);
    expect(await app.run('r')).toMatchObject({ until: start + 2 * DAY + 2 * HOUR });
    clock.step(HOUR);
    expect(await app.run('r')).toMatchObject({ status: 'completed' });
  });

  test('does not suspend for what has passed', async ({ db }) => {
    const clock = new AClock();
    const graph = twoSteps(async () => {
      for (const until of [0, new Date(0), new Date(clock.at)]) await sleep(until);
      return {};
    });
    expect(await durable(graph, { db, now: clock.now }).run('r', {})).toMatchObject({ status: 'completed' });
  });

  test('refuses what is no time before anything is written', async ({ db }) => {
    const wrong: readonly (readonly [unknown, typeof Error])[] = [
      [Number.NaN, RangeError],
      [-1, RangeError],
      [Number.POSITIVE_INFINITY, RangeError],
      [8.64e15 + 1, RangeError],
      [new Date(Number.NaN), RangeError],
      ['tomorrow', TypeError],
      [undefined, TypeError],
    ];
    const graph = twoSteps(async () => {
      for (const [until, kind] of wrong) {
        await expect(sleep(until as number)).rejects.toThrow(kind);
        if (until !== undefined)
          await expect(waitFor('x', { within: until as number })).rejects.toThrow(kind);
      }
      await expect(sleep(8.64e15)).rejects.toThrow(RangeError); // from now on, that is past the last date
      return {};
    });
    expect(await durable(graph, { db }).run('r', {})).toMatchObject({ status: 'completed' });
    expect(db.prepare('SELECT count(*) FROM waits').pluck().get()).toBe(0);
  });

  test('is a mistake outside a node, in plain LangGraph use and inside a step', async ({ db }) => {
    await expect(sleep(1)).rejects.toThrow(TypeError);
    const graph = twoSteps(async () => {
      await step('call', () => sleep(1));
      return {};
    });
    const app = durable(graph, { db });
    expect(await app.run('r', {}, { throwOnFailure: false })).toMatchObject({
      status: 'failed',
      error: { name: 'TypeError' },
    });
    const plain = durable(
      twoSteps(async () => {
        await sleep(1);
        return {};
      }),
      { db },
    );
    await expect(plain.graph.invoke({}, { configurable: { thread_id: 'plain' } })).rejects.toThrow(TypeError);
  });

  test('lets branches beside it work, and their gates be answered', async ({ db }) => {
    const clock = new AClock();
    const graph = twoBranches(
      async () => {
        await sleep(DAY);
        return { log: ['left'] };
      },
      () => ({ log: [`right ${String(interrupt('go?'))}`] }),
    );
    const app = durable(graph, { db, now: clock.now });
    const { gates, until, status } = await app.run('r', {});
    expect([status, until]).toEqual(['waiting', clock.at + DAY]);
    await app.decide(only(gates), { value: 'yes', by: ada });
    expect(await app.run('r')).toMatchObject({ status: 'waiting', gates: [], until: clock.at + DAY });
    clock.step(DAY);
    const { values } = await app.run('r');
    expect(values?.log).toEqual(['start', 'left', 'right yes']);
  });

  test('goes on though a gate beside it is open', async ({ db }) => {
    const clock = new AClock();
    const woken: number[] = [];
    const graph = twoBranches(
      async () => {
        await sleep(DAY);
        await step('woken', () => woken.push(clock.at));
        return { log: ['left'] };
      },
      () => ({ log: [`right ${String(interrupt('go?'))}`] }),
    );
    const app = durable(graph, { db, now: clock.now });
    await app.run('r', {});
    clock.step(DAY);
    const { driven } = await app.runDue();
    expect(woken).toEqual([clock.at]);
    expect(only(driven)).toMatchObject({ status: 'waiting' });
    expect(only(driven)).not.toHaveProperty('until');
    await app.decide(only(only(driven).gates), { value: 'yes', by: ada });
    expect((await app.run('r')).values?.log).toEqual(['start', 'left', 'right yes']);
  });

  test('side by side in one node ends with the longest', async ({ db }) => {
    const clock = new AClock();
    const graph = twoSteps(async () => {
      await Promise.all([sleep(2 * HOUR), sleep(HOUR), sleep(3 * HOUR)]);
      return {};
    });
    const app = durable(graph, { db, now: clock.now });
    const start = clock.at;
    for (const hours of [1, 2, 3]) {
      expect(await app.run('r', {})).toMatchObject({ status: 'waiting', until: start + hours * HOUR });
      clock.step(HOUR);
    }
    expect(await app.run('r')).toMatchObject({ status: 'completed' });
  });

  test('is no fault that a node can handle, or that LangGraph retries', async ({ db }) => {
    const clock = new AClock();
    let runs = 0;
    const graph = new StateGraph(OwnState)
      .addNode(
        'node',
        async () => {
          runs += 1;
          await sleep(HOUR).catch(() => undefined);
          if (runs === 2) throw new Error('a moment of weakness');
          return { log: ['woken'] };
        },
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false } },
      )
      .addEdge(START, 'node')
      .addEdge('node', END);
    const app = durable(graph, { db, now: clock.now });
    expect(await app.run('r', {})).toMatchObject({ status: 'waiting' });
    clock.step(HOUR);
    expect(await app.run('r')).toMatchObject({ status: 'completed', values: { log: ['woken'] } });
    expect(runs).toBe(3);
  });

  test('in nodes of subgraphs, at any depth and side by side', async ({ db }) => {
    const clock = new AClock();
    const inner = (name: string, ms: number) =>
      new StateGraph(OwnState)
        .addNode('nap', async () => {
          await sleep(ms);
          await sleep(ms);
          return { log: [name] };
        })
        .addEdge(START, 'nap')
        .addEdge('nap', END)
        .compile();
    const middle = new StateGraph(OwnState)
      .addNode('short', inner('short', HOUR))
      .addNode('long', async () => ({ log: (await inner('long', DAY).invoke({})).log }))
      .addEdge(START, 'short')
      .addEdge(START, 'long')
      .addEdge('short', END)
      .addEdge('long', END)
      .compile();
    const graph = new StateGraph(OwnState)
      .addNode('outer', middle)
      .addNode('last', says('last'))
      .addEdge(START, 'outer')
      .addEdge('outer', 'last')
      .addEdge('last', END);
    const app = durable(graph, { db, now: clock.now });
    const waits: number[] = [];
    for (let ran = await app.run('r', {}); ran.status === 'waiting'; ran = await app.run('r')) {
      waits.push((ran.until ?? Number.NaN) - clock.at);
      clock.at = ran.until ?? Number.NaN;
    }
    expect(waits).toEqual([HOUR, HOUR, DAY - 2 * HOUR, DAY]);
    expect([...((await app.values('r'))?.log ?? [])].sort()).toEqual(['last', 'long', 'short']);
  });

  test('in tools, each call by itself', async ({ db }) => {
    const clock = new AClock();
    const nap = tool(
      async ({ ms }: { readonly ms: number }) => {
        await sleep(ms);
        return `slept ${ms}`;
      },
      { name: 'nap', description: 'sleeps', schema: z.object({ ms: z.number() }) },
    );
    const call = (id: string, ms: number) => ({ id, name: 'nap', args: { ms }, type: 'tool_call' as const });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', () => ({
        messages: [new AIMessage({ content: '', tool_calls: [call('a', DAY), call('b', HOUR)] })],
      }))
      .addNode('tools', new ToolNode([nap]))
      .addEdge(START, 'model')
      .addEdge('model', 'tools')
      .addEdge('tools', END);
    const app = durable(graph, { db, now: clock.now });
    const start = clock.at;
    expect(await app.run('r', { messages: [new HumanMessage('sleep')] })).toMatchObject({
      until: start + HOUR,
    });
    clock.step(HOUR);
    expect(await app.run('r')).toMatchObject({ until: start + DAY });
    clock.step(DAY);
    const { values } = await app.run('r');
    expect(values?.messages.map(({ text }) => text)).toEqual(['sleep', '', `slept ${DAY}`, `slept ${HOUR}`]);
  });

  test('in branches that were sent', async ({ db }) => {
    const clock = new AClock();
    const graph = new StateGraph(OwnState)
      .addNode('nap', async ({ hours }: { readonly hours: number }) => {
        await sleep(hours * HOUR);
        return { log: [`${hours}`] };
      })
      .addConditionalEdges(START, () => [1, 2, 3].map((hours) => new Send('nap', { hours })))
      .addEdge('nap', END);
    const app = durable(graph, { db, now: clock.now });
    let naps = 0;
    for (let ran = await app.run('r', {}); ran.status === 'waiting'; ran = await app.run('r')) {
      naps += 1;
      clock.at = ran.until ?? Number.NaN;
    }
    expect(naps).toBe(3);
    expect((await app.values('r'))?.log).toEqual(['1', '2', '3']);
  });

  test('does not end when the clock steps back, and ends when it steps on by days', async ({ db }) => {
    const clock = new AClock();
    const app = durable(
      twoSteps(async () => {
        await sleep(HOUR);
        await sleep(HOUR);
        return {};
      }),
      { db, now: clock.now },
    );
    await app.run('r', {});
    clock.step(-3 * DAY);
    expect(await app.runDue()).toMatchObject({ driven: [] });
    clock.step(3 * DAY + HOUR);
    expect(only((await app.runDue()).driven)).toMatchObject({ status: 'waiting' });
    clock.step(-DAY); // what has fired stays fired
    expect(await app.run('r')).toMatchObject({ until: clock.at + DAY + HOUR });
    clock.step(100 * DAY);
    expect(only((await app.runDue()).driven)).toMatchObject({ status: 'completed' });
  });

  test('is ended by cancel', async ({ db }) => {
    const clock = new AClock();
    const app = durable(
      twoSteps(async () => {
        await sleep(HOUR);
        return {};
      }),
      { db, now: clock.now },
    );
    await app.run('r', {});
    await app.cancel('r');
    clock.step(HOUR);
    expect(await app.runDue()).toEqual({ driven: [], refused: [] });
    expect(await app.run('r')).toMatchObject({ status: 'cancelled' });
  });

  test('is stayed for by wait', async ({ db }) => {
    const app = durable(
      twoSteps(async () => {
        await sleep(30);
        return {};
      }),
      { db },
    );
    expect(await app.run('r', {}, { wait: true })).toMatchObject({ status: 'completed' });
  });
});

describe('a signal', () => {
  test('that no node has taken is there for the turns that follow', async ({ db }) => {
    const app = durable(
      twoSteps(async ({ log }) => ({ answer: await waitFor(log.includes('b') ? 'early' : 'awaited') })),
      { db },
    );
    await app.run('r', { log: ['a'] }, { turn: '1' });
    for (const name of ['early', 'awaited']) await app.signal('r', name, name, { by: bank, signalId: name });
    expect(await app.run('r')).toMatchObject({ status: 'completed', values: { answer: 'awaited' } });
    expect(await app.run('r', { log: ['b'] }, { turn: '2' })).toMatchObject({
      status: 'completed',
      values: { answer: 'early' },
    });
  });

  const listening = (...names: readonly string[]) =>
    twoSteps(async () => {
      const heard: string[] = [];
      for (const name of names) heard.push(JSON.stringify(await waitFor(name)));
      return { log: heard };
    });

  test('is taken by who waits for it, once', async ({ db }) => {
    const app = durable(listening('paid', 'paid'), { db });
    expect(await app.run('r', {})).toMatchObject({ status: 'waiting', waitsFor: ['paid'] });
    await app.signal('r', 'paid', { amount: 1 }, { by: bank, signalId: 's-1' });
    expect(await app.run('r')).toMatchObject({ status: 'waiting', waitsFor: ['paid'] });
    await app.signal('r', 'paid', { amount: 2 }, { by: bank, signalId: 's-2' });
    const { driven } = await app.runDue();
    expect(only(driven)).toMatchObject({ values: { log: ['{"amount":1}', '{"amount":2}', 'second'] } });
  });

  test('that came before anybody waited is kept, and the oldest of a name goes first', async ({ db }) => {
    const clock = new AClock();
    const graph = twoSteps(async () => {
      await sleep(HOUR);
      return { log: [String(await waitFor('a')), String(await waitFor('b')), String(await waitFor('a'))] };
    });
    const app = durable(graph, { db, now: clock.now });
    await app.run('r', {});
    for (const [name, payload] of [
      ['b', 'b1'],
      ['a', 'a1'],
      ['a', 'a2'],
    ] as const)
      await app.signal('r', name, payload, { by: bank, signalId: payload });
    expect(await app.runDue()).toMatchObject({ driven: [] });
    clock.step(HOUR);
    expect(only((await app.runDue()).driven)).toMatchObject({
      values: { log: ['a1', 'b1', 'a2', 'second'] },
    });
  });

  test('of the same id is the same signal; of another content, none', async ({ db }) => {
    const app = durable(listening('paid'), { db });
    await app.run('r', {});
    const told = () => app.signal('r', 'paid', { amount: 1 }, { by: bank, signalId: 's-1' });
    expect([await told(), await told()]).toEqual([{ isNew: true }, { isNew: false }]);
    const other = app.signal('r', 'paid', { amount: 2 }, { by: bank, signalId: 's-1' });
    await expect(other).rejects.toMatchObject({ code: 'SIGNAL_NOT_TAKEN' });
    expect(await app.run('r')).toMatchObject({ status: 'completed' });
    expect(await told()).toEqual({ isNew: false });
    expect(db.prepare("SELECT count(*) FROM signals WHERE kind = 'message'").pluck().get()).toBe(1);
  });

  test('is refused by a run that has ended or was never started', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    const tell = (id: string) => app.signal(id, 'x', 1, { by: bank, signalId: 'n' });
    await expect(tell('nobody')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    await app.run('r', {});
    await expect(tell('r')).rejects.toMatchObject({ code: 'SIGNAL_NOT_TAKEN' });
    expect(db.prepare('SELECT count(*) FROM signals').pluck().get()).toBe(0);
  });

  test('is heard by its very name, as it was told; what is told of it is masked', async ({ db }) => {
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';
    const app = durable(listening(`token ${secret}`), { db });
    await app.run('r', {});
    await app.signal('r', `token ${secret}`, { deep: [secret] }, { by: bank, signalId: secret });
    const { values } = await app.run('r');
    expect(values?.log).toEqual([JSON.stringify({ deep: [secret] }), 'second']);
    expect(JSON.stringify(internalsOf(app).store.log.list('r'))).not.toContain(secret);
  });

  test('that cannot be kept, or is told wrongly, is refused before anything is written', async ({ db }) => {
    const app = durable(listening('x'), { db });
    await app.run('r', {});
    const deep = Array.from({ length: 200 }).reduce((inner) => [inner], []);
    for (const payload of [() => 1, Number.NaN, 10n, new Map(), deep])
      await expect(app.signal('r', 'x', payload, { by: bank, signalId: '1' })).rejects.toMatchObject({
        code: 'VALUE_NOT_STORABLE',
      });
    const wrong: readonly (readonly [object, typeof Error])[] = [
      [{ name: '' }, RangeError],
      [{ name: 'x'.repeat(201) }, RangeError],
      [{ name: 7 }, TypeError],
      [{ signalId: '' }, TypeError],
      [{ by: { kind: 'god', id: 'x' } }, TypeError],
      [{ by: undefined }, TypeError],
    ];
    for (const [told, kind] of wrong) {
      const { name, by, signalId } = { name: 'x', by: bank, signalId: '1', ...told };
      await expect(app.signal('r', name, 1, { by, signalId })).rejects.toThrow(kind);
    }
    expect(db.prepare('SELECT count(*) FROM signals').pluck().get()).toBe(0);
  });

  test('never decides a gate, whatever it says', async ({ db }) => {
    const app = durable(twoSteps(), { db, gates: { second: () => 'go?' } });
    const { gates } = await app.run('r', {});
    const { sessionId, artifactHash } = only(gates);
    for (const name of ['decision', sessionId, 'second', `decision:${sessionId}`]) {
      const payload = { approved: true, sessionId, artifactHash };
      await app.signal('r', name, payload, { by: { kind: 'agent', id: 'eve' }, signalId: name });
    }
    expect(await app.run('r')).toMatchObject({ status: 'waiting', gates: [{ sessionId }] });
  });

  test('or the time: one wins, once and for all', async ({ db }) => {
    const clock = new AClock();
    const graph = twoSteps(async () => {
      const first = await waitFor<string>('paid', { within: HOUR });
      const second = await waitFor<string>('paid', { within: HOUR });
      return { log: [first, second].map((it) => (it.timedOut ? 'late' : `${it.payload} by ${it.by.id}`)) };
    });
    const app = durable(graph, { db, now: clock.now });
    const until = clock.at + HOUR;
    expect(await app.run('r', {})).toMatchObject({ until, waitsFor: ['paid'] });
    clock.step(HOUR);
    await app.runDue(); // the time won
    await app.signal('r', 'paid', 'money', { by: bank, signalId: '1' });
    clock.step(DAY); // nobody has driven it: what came goes first
    expect(only((await app.runDue()).driven)).toMatchObject({
      values: { log: ['late', 'money by bank', 'second'] },
    });
  });

  test('goes to one of two branches, in the order in which they began to wait', async ({ db }) => {
    const branch = (name: string) => async () => ({ log: [`${name} ${String(await waitFor('x'))}`] });
    const app = durable(twoBranches(branch('left'), branch('right')), { db });
    await app.run('r', {});
    await app.signal('r', 'x', 1, { by: bank, signalId: '1' });
    expect(await app.run('r')).toMatchObject({ status: 'waiting', waitsFor: ['x'] });
    await app.signal('r', 'x', 2, { by: bank, signalId: '2' });
    expect((await app.run('r')).values?.log).toEqual(['start', 'left 1', 'right 2']);
  });

  test('wakes who stays for the run', async ({ db }) => {
    const app = durable(listening('paid'), { db });
    const ended = app.run('r', {}, { wait: true });
    await expect.poll(() => internalsOf(app).store.threads.get('r')?.status).toBe('waiting');
    await app.signal('r', 'paid', 1, { by: bank, signalId: '1' });
    expect(await ended).toMatchObject({ status: 'completed' });
  });

  test('is no interrupt of a node that asks in the same form', async ({ db }) => {
    const app = durable(
      twoSteps(() => ({ answer: interrupt({ waitsFor: 'sleep', subject: null, until: null }) })),
      { db },
    );
    expect((await app.run('r', {})).gates).toHaveLength(1);
  });
});
