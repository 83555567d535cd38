import { randomInt, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Document } from '@langchain/core/documents';
import { AIMessage, AIMessageChunk, HumanMessage } from '@langchain/core/messages';
import { END, GraphDrained, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect, test as plainTest } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { plant } from '../../../../test/support/runs/places.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { EventBus } from '../../../events/events.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import {
  ada,
  type Own,
  OwnState,
  type OwnUpdate,
  says,
  twoBranches,
  twoSteps,
} from '../../__tests__/ownGraph.ts';
import { localApp } from '../../app/durable.ts';
import { NO_BREAKPOINTS } from '../../breakpoints/Breakpoint.ts';
import { compileDurable } from '../../compile/compileDurable.ts';
import type { Engine } from '../../drive/Engine.ts';
import { EngineFaults } from '../../execution/EngineFaults.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { FileApp } from '../../file/FileApp.ts';
import { EngineStore } from '../../gates/EngineStore.ts';
import { parsedGates } from '../../gates/parsedGates.ts';
import type { EngineGraph } from '../../graph/EngineGraph.ts';
import { NO_GOALS, ownGraphProfile } from '../../graph/NodeEngine.ts';
import { type Death, DyingSaver } from '../../saver/__tests__/DyingSaver.ts';
import { RunStreams } from '../../stream/RunStreams.ts';
import { progress } from '../nodeContext.ts';
import { type StepCall, step } from '../step.ts';

/** What the first node of a run makes of its steps; `failures` times it then throws. */
function nodeOf<T>(work: () => Promise<T>, failures = 0) {
  let left = failures;
  return async () => {
    const answer = await work();
    left -= 1;
    if (left >= 0) throw new Error('flaky');
    return { answer };
  };
}

describe('step', () => {
  test('records its result; a retried node gets the recorded one, the same to the letter', async ({ db }) => {
    let calls = 0;
    const seen: string[] = [];
    const node = nodeOf(async () => {
      const result = await step('plan', () => {
        calls += 1;
        return { zeta: calls, alpha: undefined, list: [{ b: 1, a: -0 }] };
      });
      seen.push(JSON.stringify(result), Object.keys(result).join());
      return result;
    }, 2);
    const app = durable(twoSteps(node), { db });
    for (const status of ['failed', 'failed', 'completed']) {
      expect((await app.run('run', {}, { throwOnFailure: false })).status).toBe(status);
    }
    expect(calls).toBe(1);
    expect(new Set(seen)).toEqual(new Set(['{"list":[{"a":0,"b":1}],"zeta":1}', 'list,zeta']));
  });

  test('keeps what it got from the function, whatever the node does to it later', async ({ db }) => {
    const shared = { words: ['a'] };
    const results: unknown[] = [];
    const node = nodeOf(async () => {
      const result = await step('plan', () => shared);
      results.push(structuredClone(result));
      result.words.push('b');
      shared.words.push('c');
      return null;
    }, 1);
    const app = durable(twoSteps(node), { db });
    await app.run('run', {}, { throwOnFailure: false });
    await app.run('run');
    expect(results).toEqual([{ words: ['a'] }, { words: ['a'] }]);
  });

  test('that returns nothing is recorded as such', async ({ db }) => {
    const results: unknown[] = [];
    let calls = 0;
    const node = nodeOf(async () => {
      results.push(
        await step('notify', () => {
          calls += 1;
        }),
      );
      return null;
    }, 1);
    const app = durable(twoSteps(node), { db });
    await app.run('run', {}, { throwOnFailure: false });
    await app.run('run');
    expect([results, calls]).toEqual([[undefined, undefined], 1]);
  });

  test('that failed is called again with the same key and the next attempt', async ({ db }) => {
    const calls: Pick<StepCall, 'key' | 'attempt'>[] = [];
    const node = () =>
      step('pay', ({ key, attempt }) => {
        calls.push({ key, attempt });
        if (attempt < 3) throw new Error('no connection');
        return 'paid';
      }).then((answer) => ({ answer }));
    const app = durable(twoSteps(node), { db });
    for (let runs = 0; runs < 3; runs += 1) await app.run('run', {}, { throwOnFailure: false });
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
  });

  test('has another key in another visit of its node', async ({ db }) => {
    const keys: string[] = [];
    const node = async () => {
      await step('same', ({ key }) => {
        keys.push(key);
      });
      return {};
    };
    await durable(twoSteps(node, node), { db }).run('run', {});
    expect(new Set(keys).size).toBe(2);
  });

  test('adds up what its calls cost', async ({ db }) => {
    const node = nodeOf(() =>
      step('ask', ({ usage }) => {
        usage({ tokensIn: 10, costUsd: 0.25 });
        usage({ tokensIn: 5, tokensOut: 7 });
        return null;
      }),
    );
    const app = durable(twoSteps(node), { db });
    await app.run('run', {});
    expect(internalsOf(app).store.steps.costOf('run')).toEqual({
      tokensIn: 15,
      tokensOut: 7,
      costUsd: 0.25,
      calls: 1,
      requests: 2,
      unpriced: 1,
    });
  });

  test('runs beside others of its node', async ({ db }) => {
    const node = nodeOf(() => Promise.all(['a', 'b', 'c'].map((name) => step(name, () => name))), 1);
    const app = durable(twoSteps(node), { db });
    await app.run('run', {}, { throwOnFailure: false });
    expect((await app.run('run')).values?.answer).toEqual(['a', 'b', 'c']);
  });

  test('within a call is made though the run was told to stop, and the next call is not', async ({ db }) => {
    const stop = new AbortController();
    const made: string[] = [];
    const node = nodeOf(async () => {
      const whole = await step('call', async () => {
        stop.abort();
        made.push('call');
        return `whole of ${await step('part', () => 'part', { kind: 'work' })}`;
      });
      await step('next', () => made.push('next'));
      return whole;
    });
    const app = durable(twoSteps(node), { db });
    expect(await app.run('run', {}, { drain: stop.signal })).toMatchObject({ status: 'paused' });
    expect(made).toEqual(['call']);
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { answer: 'whole of part' } });
    expect(made).toEqual(['call', 'next']);
  });

  test('begins no call once its node has thrown, though one beside it was in flight', async ({ db }) => {
    const made: string[] = [];
    let left: unknown = null;
    const begun = new EventEmitter();
    const inFlight = async () => {
      await step('in flight', async () => {
        begun.emit('begun');
        await setTimeout(20);
        made.push('in flight');
      });
      left = await step('next', () => made.push('next')).catch((error: unknown) => error);
    };
    const node = nodeOf(async () => {
      const fails = once(begun, 'begun').then(() => Promise.reject(new Error('flaky')));
      await Promise.all([fails, inFlight()]);
    });
    const app = durable(twoSteps(node), { db });
    expect((await app.run('run', {}, { throwOnFailure: false })).reason).toContain('flaky');
    await expect.poll(() => left).not.toBeNull();
    expect(left).toBeInstanceOf(GraphDrained);
    expect(made).toEqual(['in flight']);
    expect(internalsOf(app).store.steps.listForThread('run')).toMatchObject([
      { name: 'in flight', state: 'done' },
    ]);
  });
});

const MESSAGE = new AIMessage({
  id: 'm',
  content: 'Hello',
  tool_calls: [{ name: 'look', args: { at: 1 }, id: 'c', type: 'tool_call' }],
  ...({ usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } } as object),
  response_metadata: { model: 'x' },
});

describe('step records', () => {
  test.for<[string, unknown]>([
    ['a message', MESSAGE],
    ['a chunk of one', new AIMessageChunk({ content: 'Hel', id: 'm' })],
    ['messages deep inside', { turns: [[new HumanMessage('Hi'), MESSAGE]] }],
    ['a document', [new Document({ pageContent: 'text', metadata: { at: new Date(7) }, id: 'd' })]],
    ['a date', new Date(0)],
    ['a map and a set', { map: new Map<unknown, unknown>([[{ a: 1 }, new Set([undefined])]]) }],
    ['bytes', new Uint8Array([1, 2, 255])],
    ['a buffer inside', [Buffer.from('abc')]],
    ['NaN and the infinities', [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1n]],
    ['a bigint', [2n ** 80n]],
    ['a large message', new HumanMessage('long '.repeat(5_000))],
  ])('%s, and gives it back equal the first time and every time', async ([_name, value], { db }) => {
    let calls = 0;
    const seen: unknown[] = [];
    const node = nodeOf(async () => {
      seen.push(
        await step('make', () => {
          calls += 1;
          return value;
        }),
      );
      return null;
    }, 1);
    const app = durable(twoSteps(node), { db });
    expect((await app.run('run', {}, { throwOnFailure: false })).status).toBe('failed');
    expect((await app.run('run')).status).toBe('completed');
    expect(seen).toStrictEqual([value, value]);
    expect(seen[0]).not.toBe(value);
    expect(calls).toBe(1);
    expect(doctor(db).findings).toEqual([]);
  });

  test('plain JSON as it always did', async ({ db }) => {
    const app = durable(twoSteps(nodeOf(() => step('make', () => ({ b: 1, a: undefined })))), { db });
    await app.run('run', {});
    const row = db.prepare('SELECT result_json AS json, codec FROM agent_steps').get();
    expect(row).toEqual({ json: '{"b":1}', codec: null });
  });

  test.for(['result_json', 'codec'])(
    'a %s that was changed in the file is not replayed',
    async (column, { db }) => {
      const app = durable(twoSteps(nodeOf(() => step('make', () => new Date(0)), 1)), { db });
      await app.run('run', {}, { throwOnFailure: false });
      const changed = { result_json: `'{"$":["date",1]}'`, codec: 'NULL' }[column];
      await plant(db, (file) => file.exec(`UPDATE agent_steps SET ${column} = ${changed}`));
      await expect(app.run('run')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
      expect(doctor(db).ok).toBe(false);
    },
  );
});

/** A step whose calls are counted. */
function counted(result: () => unknown) {
  const made: string[] = [];
  const ask = () =>
    step('ask', ({ key }) => {
      made.push(key);
      return result();
    });
  return { made, ask };
}

describe('step is refused', () => {
  test.for([
    ['a function', () => 1],
    ['an instance', new (class Plan {})()],
    ['a lone surrogate', '\ud800'],
  ] as const)('with %s as its result, by name; it stays to be done', async ([_name, bad], { db }) => {
    let result: unknown = { deep: [bad] };
    const app = durable(twoSteps(nodeOf(() => step('make', () => result))), { db });
    expect(await app.run('run', {}, { throwOnFailure: false })).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('VALUE_NOT_STORABLE: The result of step "make" cannot be stored.'),
    });
    result = 'plain';
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { answer: 'plain' } });
  });

  test('with a result that contains itself', async ({ db }) => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    const app = durable(twoSteps(nodeOf(() => step('make', () => loop))), { db });
    expect(await app.run('run', {}, { throwOnFailure: false })).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('VALUE_NOT_STORABLE'),
    });
  });

  test('with what its call has cost, and a retry of its node does not pay again', async ({ db }) => {
    let calls = 0;
    const call = () =>
      step('ask', ({ usage }) => {
        calls += 1;
        usage({ tokensIn: 10, tokensOut: 5, costUsd: 0.5 });
        return { socket: () => calls };
      });
    const caught: unknown[] = [];
    const builder = new StateGraph(OwnState)
      .addNode(
        'ask',
        async () => {
          await call().catch((error: unknown) => caught.push(error));
          return {};
        },
        { retryPolicy: { maxAttempts: 3, initialInterval: 1, logWarning: false } },
      )
      .addEdge(START, 'ask')
      .addEdge('ask', END);
    const app = durable(builder, { db });
    expect((await app.run('run', {}, { throwOnFailure: false })).status).toBe('failed');
    expect([calls, internalsOf(app).store.steps.costOf('run').costUsd]).toEqual([1, 0.5]);
    expect(caught).toEqual([expect.objectContaining({ code: 'VALUE_NOT_STORABLE' })]);
    expect((await app.run('run', undefined, { throwOnFailure: false })).status).toBe('failed');
    expect([calls, internalsOf(app).store.steps.costOf('run').costUsd]).toEqual([2, 1]);
  });

  test.for(['own', 'default'] as const)(
    'and no handler of errors makes up for it: %s',
    async (kind, { db }) => {
      const handled: string[] = [];
      const errorHandler = (_state: unknown, { node }: { readonly node: string }) => {
        handled.push(node);
        return { log: ['handled'] };
      };
      let result: unknown = () => 1;
      const { made, ask } = counted(() => result);
      const builder = new StateGraph(OwnState)
        .addNode('ask', nodeOf(ask), kind === 'own' ? { errorHandler } : {})
        .addNode('fails', () => Promise.reject(new Error('flaky')), kind === 'own' ? { errorHandler } : {})
        .addEdge(START, 'ask')
        .addEdge('ask', 'fails')
        .addEdge('fails', END);
      if (kind === 'default') builder.setNodeDefaults({ errorHandler });
      const app = durable(builder, { db });
      const refused = await app.run('run', {}, { throwOnFailure: false });
      expect([refused.status, refused.reason]).toEqual([
        'failed',
        expect.stringContaining('VALUE_NOT_STORABLE: The result of step "ask" cannot be stored.'),
      ]);
      expect(handled).toEqual([]);
      result = 'plain';
      expect((await app.run('run')).status).toBe('completed');
      expect([made.length, handled]).toEqual([2, ['fails']]);
    },
  );

  test('and what runs beside it is not paid again', async ({ db }) => {
    let result: unknown = () => 1;
    const { made, ask } = counted(() => result);
    const beside: string[] = [];
    const slow = async (): Promise<OwnUpdate> => {
      await setTimeout(20);
      return { log: [await step('beside', async () => beside.push('made').toString())] };
    };
    const app = durable(twoBranches(nodeOf(ask), slow), { db });
    expect((await app.run('run', {}, { throwOnFailure: false })).reason).toContain('VALUE_NOT_STORABLE');
    result = 'plain';
    expect((await app.run('run')).status).toBe('completed');
    expect([made.length, beside]).toEqual([2, ['made']]);
  });

  test('and a drive that follows a crash ends with the same words, without the call', async ({ db }) => {
    let result: unknown = () => 1;
    const { made, ask } = counted(() => result);
    const app = durable(twoSteps(nodeOf(ask)), { db });
    const refused = await app.run('run', {}, { throwOnFailure: false });
    const neverSettled = "UPDATE threads SET status = 'running' WHERE thread_id = 'run'";
    for (let crashes = 0; crashes < 2; crashes += 1) {
      await plant(db, (file) => file.exec(neverSettled));
      expect(await app.run('run', undefined, { throwOnFailure: false })).toMatchObject({
        status: 'failed',
        reason: refused.reason,
      });
    }
    expect(made).toHaveLength(1);
    result = 'plain';
    expect((await app.run('run')).status).toBe('completed');
    expect(made).toHaveLength(2);
  });

  test('under a name that was used before in the visit', async ({ db }) => {
    let calls = 0;
    const twice = nodeOf(async () => {
      await step('draft', () => {
        calls += 1;
      });
      await step('draft', () => {
        calls += 1;
      });
    });
    const failed = await durable(twoSteps(twice), { db }).run('run', {}, { throwOnFailure: false });
    expect(failed.reason).toMatch(/"draft" is already used in this execution of "first"/);
    expect(calls).toBe(1);
  });

  test('without a name', async ({ db }) => {
    const app = durable(twoSteps(nodeOf(() => step('', () => 1))), { db });
    expect((await app.run('run', {}, { throwOnFailure: false })).reason).toMatch(/step name/);
  });

  test('in an edge of a driven run, as is progress(): nothing is recorded there', async ({ db }) => {
    for (const inEdge of [() => step('draft', () => 1), async () => progress()]) {
      const builder = new StateGraph(OwnState)
        .addNode('first', says('first'))
        .addEdge(START, 'first')
        .addConditionalEdges('first', async () => {
          await inEdge();
          return END;
        });
      const { status, reason } = await durable(builder, { db }).run(
        `run ${inEdge}`,
        { log: [] },
        { throwOnFailure: false },
      );
      expect([status, reason]).toEqual(['failed', expect.stringContaining('must be called inside a node')]);
    }
  });
});

describe('a step outside durable()', () => {
  plainTest('only runs its function, with a fresh key each time', async () => {
    const keys: string[] = [];
    const draft = ({ key, attempt, signal, usage, onActivity }: StepCall) => {
      usage({ costUsd: 1 });
      onActivity({ kind: 'text', text: 'hello' });
      keys.push(key);
      return `draft ${attempt}, ${signal.aborted}`;
    };
    expect([await step('draft', draft), await step('draft', draft)]).toEqual([
      'draft 1, false',
      'draft 1, false',
    ]);
    expect(new Set(keys).size).toBe(2);
    expect(() => progress()).not.toThrow();
    await expect(step('', draft)).rejects.toThrow(TypeError);
    await expect(step('draft', () => Promise.reject(new Error('down')))).rejects.toThrow('down');
  });
});

describe('a process that dies at any operation of the saver', () => {
  /** Of so many operations one is fatal, others in every run. */
  const EVERY = howMany('DEVS_SAVER_DEATHS_EVERY', 3);
  const FIRST = randomInt(EVERY);

  /** Two questions and two steps: a declared gate in front of `second`, an interrupt() inside it. */
  const paying = () =>
    twoSteps(
      async () => ({ log: [await step('draft', noted)] }),
      async () => {
        const published = await step('publish', noted);
        const approved = interrupt<string, boolean>('announce?');
        return { log: [published], answer: approved };
      },
    );
  const noted = ({ key }: StepCall) => {
    effects.push(key);
    return key.slice(key.lastIndexOf('/') + 1);
  };
  /** What the run now driven has done outside, by key. */
  let effects: string[] = [];

  /** One process: its own connection, a saver that may die. */
  function start(dbPath: string, death: Death | null) {
    const db = createDatabase({ dbPath });
    const saver = new DyingSaver(db, death);
    return { db, saver, app: appOver(paying(), db, saver) };
  }

  /** Drives and answers, as often as it takes. */
  async function toTheEnd({ app }: ReturnType<typeof start>, run: string): Promise<Own> {
    for (let drives = 0; drives < 5; drives += 1) {
      const { status, gates, values } = await app.run(run, {});
      if (status === 'completed' && values !== null) return values;
      for (const gate of gates) {
        const answer = gate.kind === 'interrupt' ? { value: true } : { approved: true };
        await app.decide(gate, { ...answer, by: ada });
      }
    }
    throw new Error('The run does not end.');
  }

  test('changes nothing: same end, each effect once, each question decided once', {
    timeout: 60_000,
  }, async ({ db, dbPath }) => {
    const whole = start(dbPath, null);
    const expected = await toTheEnd(whole, 'whole');
    const { operations } = whole.saver;
    expect(operations).toBeGreaterThan(20);
    const fatal = Array.from({ length: operations }, (_, index) => index + 1).filter(
      (at) => at % EVERY === FIRST,
    );
    for (const operation of fatal) {
      for (const side of ['before', 'after'] as const) {
        effects = [];
        const run = `${side}-${operation}`;
        await toTheEnd(start(dbPath, { operation, side }), run).catch(() => null);
        db.prepare('UPDATE threads SET lease_owner = NULL').run(); // what its death does for a real process
        const next = start(dbPath, null);
        expect([run, await toTheEnd(next, run)]).toEqual([run, expected]);
        next.db.close();
        expect([run, new Set(effects).size, effects.length]).toEqual([run, 2, 2]);
      }
    }
    whole.db.close();
    expect(storyOf(db)).toEqual({ runs: 2 * fatal.length + 1, questions: 2, decided: 2, left: 0 });
  });
});

/** Over all runs: the largest number of sessions of one, of decisions of one, and sessions that are not taken up. */
function storyOf(db: Database): unknown {
  return only(
    db
      .prepare(
        `SELECT count(*) AS runs, max(questions) AS questions, max(decided) AS decided, sum(left_open) AS left FROM (
           SELECT thread_id, count(*) AS questions, count(decision_json) AS decided,
                  sum(status <> 'resumed') AS left_open
           FROM hitl_sessions GROUP BY thread_id)`,
      )
      .all(),
  );
}

function appOver(builder: ReturnType<typeof twoSteps>, db: Database, saver: DyingSaver) {
  const events = new EventBus();
  const faults = new EngineFaults();
  const store = new EngineStore(db, { events });
  const { graph, shape } = compileDurable(builder, {
    checkpointer: saver,
    engine: {
      runs: store.runs,
      store,
      events,
      profile: ownGraphProfile<Own>(),
      maxDepth: 25,
      faults,
      now: Date.now,
      newId: randomUUID,
    },
    gates: parsedGates<Own>({ second: ({ log }) => log }),
    version: '1',
  });
  const engine: Engine = {
    graph: graph as unknown as EngineGraph,
    shape,
    store,
    saver,
    faults,
    events,
    breakpoints: NO_BREAKPOINTS,
    goals: NO_GOALS,
    budget: {},
    durability: 'async',
    streams: new RunStreams(db, null),
    maxDepth: 25,
    endOf: () => ({ status: 'completed', reason: null }),
    now: Date.now,
    newId: randomUUID,
  };
  const file = new FileApp<typeof graph, Own, OwnUpdate>(engine, graph);
  return localApp(file, () => db.close());
}
