import { HumanMessage } from '@langchain/core/messages';
import { Annotation, END, GraphDrained, interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { plant } from '../../../../test/support/runs/places.ts';
import { HAS_FILES, notThroughRuns, ofOneFile } from '../../../../test/support/runs/where.ts';
import { MAX_RECURSION_DEPTH } from '../../../config/defaults.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { DevsError, isDevsError } from '../../../errors/DevsError.ts';
import { EventBus } from '../../../events/events.ts';
import { everyTable } from '../../../orchestration/__tests__/everyTable.ts';
import { EventStore } from '../../../state/events/EventStore.ts';
import { localHost } from '../../../state/threads/hostIdentity.ts';
import { RECOVERY_SPAN_MS, ThreadStore } from '../../../state/threads/ThreadStore.ts';
import {
  ada,
  bob,
  circle,
  OwnState,
  repeating,
  says,
  twoBranches,
  twoSteps,
} from '../../__tests__/ownGraph.ts';
import * as loopTurn from '../../execution/yieldToEventLoop.ts';
import { internalsOf } from '../../file/appInternals.ts';
import type { Gate, GateAnswer } from '../../gates/Gate.ts';
import { HumanInTheLoopManager } from '../../gates/HumanInTheLoopManager.ts';
import type { Principal } from '../../gates/principals.ts';
import { progress } from '../../node/nodeContext.ts';
import { step } from '../../node/step.ts';

const gated = (db: Database) => durable(twoSteps(), { db, gates: { second: ({ log }) => log } });

const statusesOf = (db: Database): readonly string[] =>
  db.prepare<[], string>('SELECT status FROM hitl_sessions ORDER BY rowid').pluck().all();

const eventsOf = (db: Database): readonly string[] => new EventStore(db).list('run').map(({ name }) => name);

/** A promise a test settles. */
function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const artifactsOf = (gates: readonly Gate[]): readonly unknown[] =>
  gates.map(({ artifact }) => artifact).sort();

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return isDevsError(error) ? error.code : String(error);
  }
  return 'nothing was refused';
}

type Refused = readonly [
  name: string,
  code: string,
  change: (gate: Gate) => Partial<Gate>,
  answer: object,
  by: Principal,
];

const asRead = () => ({});

describe('a decision', () => {
  const REFUSED: readonly Refused[] = [
    ['for another hash', 'GATE_STALE', () => ({ artifactHash: 'f'.repeat(64) }), { approved: true }, ada],
    [
      'for the first seven digits',
      'GATE_STALE',
      ({ artifactHash }) => ({ artifactHash: artifactHash.slice(0, 7) }),
      { approved: true },
      ada,
    ],
    ['for an empty hash', 'GATE_STALE', () => ({ artifactHash: '' }), { approved: true }, ada],
    [
      'on an unknown session',
      'GATE_NOT_FOUND',
      () => ({ sessionId: '8f3c6f1e-0000-4000-8000-000000000000' }),
      { approved: true },
      ada,
    ],
    ['by an agent', 'AGENT_MAY_NOT_DECIDE', asRead, { approved: true }, { kind: 'agent', id: 'claude' }],
    [
      'by an undeclared policy',
      'POLICY_NOT_DECLARED',
      asRead,
      { approved: true },
      { kind: 'policy', id: 'auto' },
    ],
    ['that is none', 'INVALID_ANSWER', asRead, {}, ada],
    ['in words', 'INVALID_ANSWER', asRead, { approved: 'yes' }, ada],
    ['with a word too many', 'INVALID_ANSWER', asRead, { approved: true, force: true }, ada],
    ['of another kind', 'INVALID_ANSWER', asRead, { action: 'continue' }, ada],
    ['inherited', 'INVALID_ANSWER', asRead, Object.create({ approved: true }) as object, ada],
    [
      'under __proto__',
      'INVALID_ANSWER',
      asRead,
      JSON.parse('{"__proto__":{"approved":true}}') as object,
      ada,
    ],
    [
      'in the form LangChain revives',
      'INVALID_ANSWER',
      asRead,
      { lc: 1, type: 'constructor', id: ['x'], approved: true },
      ada,
    ],
    ['that is over-long', 'INVALID_ANSWER', asRead, { approved: true, feedback: 'x'.repeat(70_000) }, ada],
    ['that rejects and does not say why', 'FEEDBACK_REQUIRED', asRead, { approved: false }, ada],
    [
      'that brings its own time and name',
      'INVALID_ANSWER',
      asRead,
      { approved: true, approvedBy: 'someone else' },
      ada,
    ],
  ];

  test.for(REFUSED)(
    '%s is refused with %s, writes nothing, and leaves the gate decidable',
    async ([_name, code, change, answer, by], { db }) => {
      const app = gated(db);
      const gate = only((await app.run('run', {})).gates);
      const before = everyTable(db);
      expect(await codeOf(app.decide({ ...gate, ...change(gate) }, { ...answer, by } as GateAnswer))).toBe(
        code,
      );
      expect(everyTable(db)).toBe(before);

      expect((await app.run('run')).status).toBe('waiting');
      await app.decide(gate, { approved: true, by: ada });
      expect(await app.run('run')).toMatchObject({
        status: 'completed',
        values: { log: ['first', 'second'] },
      });
    },
  );

  test('is taken once: the second one is told of the first, by whoever it was, and writes nothing', async ({
    db,
  }) => {
    const app = gated(db);
    const gate = only((await app.run('run', {})).gates);
    await app.decide(gate, { approved: false, feedback: 'Not yet.', by: ada });
    const before = everyTable(db);
    let refusal: unknown;
    try {
      await app.decide(gate, { approved: true, by: bob });
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({
      code: 'GATE_ALREADY_DECIDED',
      context: { principal: 'human:ada', decision: '{"approved":false,"feedback":"Not yet."}' },
    });
    expect(everyTable(db)).toBe(before);
  });

  test(
    'recorded over another connection is taken up by the next drive',
    ofOneFile('shares the file'),
    async ({ db, dbPath }) => {
      const app = gated(db);
      const { sessionId, artifactHash } = only((await app.run('run', {})).gates);
      const elsewhere = createDatabase({ dbPath });
      new HumanInTheLoopManager(elsewhere).decide(sessionId, {
        artifactHash,
        answer: { approved: true },
        by: ada,
      });
      elsewhere.close();
      expect((await app.run('run')).status).toBe('completed');
      expect(statusesOf(db)).toEqual(['resumed']);
    },
  );

  test(
    'recorded while a branch beside still works is taken up by the same drive',
    ofOneFile('shares the file'),
    async ({ db, dbPath }) => {
      const events = new EventBus();
      const decided = deferred();
      const builder = new StateGraph(OwnState)
        .addNode('asks', says('asks'))
        .addNode('works', async () => {
          await decided.promise;
          return { log: ['works'] };
        })
        .addEdge(START, 'asks')
        .addEdge(START, 'works')
        .addEdge('asks', END)
        .addEdge('works', END);
      const app = durable(builder, { db, events, gates: { asks: ({ log }) => log } });
      const elsewhere = createDatabase({ dbPath });
      events.on('HITL_SESSION_OPENED', () => {
        const { id, artifactHash } = only(new HumanInTheLoopManager(elsewhere).listPendingSessions());
        const answer = { approved: true };
        new HumanInTheLoopManager(elsewhere).decide(id, {
          artifactHash: artifactHash ?? '',
          answer,
          by: ada,
        });
        decided.resolve();
      });
      expect((await app.run('run', {})).status).toBe('completed');
      elsewhere.close();
    },
  );

  test.for([true, false])(
    'recorded by whoever hears of the question is taken up by the same call (the event loop turns: %s)',
    notThroughRuns('watches its own store'),
    async (isTurning, { db }) => {
      let asked = 0;
      vi.spyOn(loopTurn, 'shouldYield').mockImplementation(() => isTurning && ++asked % 3 === 1);
      const events = new EventBus();
      let opened = 0;
      const app = durable(twoSteps(), {
        ...{ db, events },
        gates: { first: ({ log }) => log, second: ({ log }) => log },
      });
      events.on('HITL_SESSION_OPENED', ({ sessionId }) => {
        const { store } = internalsOf(app);
        const { artifactHash } = store.sessions.require(sessionId);
        const answer = { artifactHash: artifactHash ?? '', answer: { approved: true }, by: ada };
        store.manager.decide(sessionId, answer);
        opened += 1;
      });
      expect((await app.run('run', {})).status).toBe('completed');
      expect(opened).toBe(2);
      vi.restoreAllMocks();
    },
  );

  test('of the first eight digits of a hash, in capitals, is one', async ({ db }) => {
    const app = gated(db);
    const gate = only((await app.run('run', {})).gates);
    await app.decide(
      { ...gate, artifactHash: gate.artifactHash.slice(0, 8).toUpperCase() },
      { approved: true, by: ada },
    );
    expect((await app.run('run')).status).toBe('completed');
  });
});

describe('two gates in parallel branches', () => {
  const branches = (db: Database) =>
    durable(twoBranches(), { db, gates: { left: () => 'l', right: () => 'r' } });

  test('are answered one at a time; each answer reaches its own branch', async ({ db }) => {
    const app = branches(db);
    const both = await app.run('run', {});
    expect(artifactsOf(both.gates)).toEqual(['l', 'r']);
    const right = only(both.gates.filter(({ artifact }) => artifact === 'r'));
    await app.decide(right, { approved: true, by: ada });
    const one = await app.run('run');
    expect(artifactsOf(one.gates)).toEqual(['l']);
    await app.decide(only(one.gates), { approved: true, by: ada });
    expect(await app.run('run')).toMatchObject({
      status: 'completed',
      values: { log: ['start', 'left', 'right'] },
    });
    expect(statusesOf(db)).toEqual(['resumed', 'resumed']);
  });

  test('are both answered before the run goes on', async ({ db }) => {
    const app = branches(db);
    for (const gate of (await app.run('run', {})).gates) await app.decide(gate, { approved: true, by: ada });
    expect((await app.run('run')).status).toBe('completed');
  });

  test('end with the run when one of them is rejected', async ({ db }) => {
    const app = branches(db);
    const [first, second] = (await app.run('run', {})).gates as [Gate, Gate];
    await app.decide(first, { approved: false, feedback: 'No.', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'cancelled', reason: 'rejected: No.' });
    expect(await app.gates('run')).toEqual([]);
    expect(await codeOf(app.decide(second, { approved: true, by: ada }))).toBe('GATE_STALE');
    expect(await app.run('run')).toMatchObject({ status: 'cancelled', values: { log: ['start'] } });
  });

  test('of one node sent out three times are three gates', async ({ db }) => {
    const fanOut = new StateGraph(OwnState)
      .addNode('work', ({ answer }) => ({ log: [String(answer)] }))
      .addConditionalEdges(START, () => ['x', 'y', 'z'].map((answer) => new Send('work', { answer })), [
        'work',
      ])
      .addEdge('work', END);
    const app = durable(fanOut, { db, gates: { work: ({ answer }) => answer } });
    const { gates } = await app.run('run', {});
    expect(artifactsOf(gates)).toEqual(['x', 'y', 'z']);
    for (const gate of gates) await app.decide(gate, { approved: true, by: ada });
    expect((await app.run('run')).values?.log).toEqual(['x', 'y', 'z']);
  });
});

describe('an answer', () => {
  /** Fails once, between the question it has an answer for and the next. */
  function failsBetween(work: (between: () => void) => object) {
    let failed = false;
    return () =>
      work(() => {
        if (failed) return;
        failed = true;
        throw new Error('flaky');
      });
  }

  test('to a first interrupt() never answers a second one, however the node failed in between', async ({
    db,
  }) => {
    const node = failsBetween((between) => {
      const first = interrupt('first?');
      between();
      return { answer: [first, interrupt('second?')] };
    });
    const app = durable(twoSteps(node), { db });
    await app.decide(only((await app.run('run', {})).gates), { value: 'one', by: ada });
    expect(await app.run('run', undefined, { throwOnFailure: false })).toMatchObject({
      status: 'failed',
      reason: 'flaky',
    });
    const second = await app.run('run');
    expect(second).toMatchObject({ status: 'waiting', gates: [{ artifact: 'second?' }] });
    await app.decide(only(second.gates), { value: 'two', by: bob });
    const { values } = await app.run('run');
    expect(values?.answer).toEqual(['one', 'two']);
  });

  test('to a declared gate never answers an interrupt() behind it', async ({ db }) => {
    const node = failsBetween((between) => {
      between();
      return { answer: interrupt('really?') };
    });
    const app = durable(twoSteps(node), { db, gates: { first: () => 'go?' } });
    await app.decide(only((await app.run('run', {})).gates), { approved: true, by: ada });
    expect((await app.run('run', undefined, { throwOnFailure: false })).status).toBe('failed');
    expect(await app.run('run')).toMatchObject({ status: 'waiting', gates: [{ artifact: 'really?' }] });
  });

  test('to the depth question never answers the gate behind it', async ({ db }) => {
    const app = durable(twoSteps(), { db, guards: { maxDepth: 2 }, gates: { second: () => 'publish?' } });
    const deep = only((await app.run('run', {})).gates);
    expect(deep.kind).toBe('recursion_limit');
    await app.decide(deep, { action: 'continue', by: ada });
    const gate = only((await app.run('run')).gates);
    expect(gate).toMatchObject({ kind: 'node_gate', artifact: 'publish?' });
    expect(await codeOf(app.decide(deep, { action: 'continue', by: ada }))).toBe('GATE_ALREADY_DECIDED');
    expect((await app.run('run')).status).toBe('waiting');
    await app.decide(gate, { approved: true, by: ada });
    expect((await app.run('run')).values?.log).toEqual(['first', 'second']);
  });

  test('is given again after the node failed, and means the same', async ({ db }) => {
    let failures = 3;
    const second = () => {
      failures -= 1;
      if (failures >= 0) throw new Error(`flaky ${failures}`);
      return { log: ['second'] };
    };
    const app = durable(twoSteps(says('first'), second), { db, gates: { second: () => 'go?' } });
    await app.decide(only((await app.run('run', {})).gates), { approved: true, by: ada });
    for (const left of [2, 1, 0]) {
      expect(await app.run('run', undefined, { throwOnFailure: false })).toMatchObject({
        status: 'failed',
        reason: `flaky ${left}`,
      });
    }
    expect((await app.run('run')).values?.log).toEqual(['first', 'second']);
    expect(statusesOf(db)).toEqual(['resumed']);
  });
});

describe('a bare interrupt()', () => {
  test('is a gate that shows what was passed, and returns what was decided', async ({ db }) => {
    const app = durable(
      twoSteps(() => ({ answer: interrupt({ draft: 'Hello.' }) })),
      { db },
    );
    const gate = only((await app.run('run', {})).gates);
    expect(gate).toMatchObject({ kind: 'interrupt', artifact: { draft: 'Hello.' }, taskId: 'run' });
    await app.decide(gate, { value: { draft: 'Longer.' }, by: ada });
    const { status, values } = await app.run('run');
    expect(status).toBe('completed');
    expect(values?.answer).toEqual({ draft: 'Longer.' });
  });

  test('shows what JSON has no word for in one, and is the same question in every process', async ({
    db,
  }) => {
    const value = {
      when: new Date(0),
      said: [new HumanMessage({ id: 'm', content: 'Hello.' })],
      seen: new Set([new Map([['a', 1]])]),
      bytes: new Uint8Array([1, 2]),
      as: 'it is',
    };
    const app = durable(
      twoSteps(() => ({ answer: interrupt(value) })),
      { db },
    );
    const gate = only((await app.run('run', {})).gates);
    expect(gate.artifact).toMatchObject({
      when: { date: '1970-01-01T00:00:00.000Z' },
      said: [{ human: { id: 'm', content: 'Hello.' } }],
      seen: { set: [{ map: [['a', 1]] }] },
      bytes: { bytes: 'AQI=' },
      as: 'it is',
    });
    await app.decide(gate, { value: 'yes', by: { kind: 'human', id: 'ada' } });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { answer: 'yes' } });
  });

  test('with a value that is no JSON fails its node, and the run can be driven again', async ({ db }) => {
    let value: unknown = { when: () => 0 };
    const app = durable(
      twoSteps(() => ({ answer: interrupt(value) })),
      { db },
    );
    expect(await app.run('run', {}, { throwOnFailure: false })).toMatchObject({
      status: 'failed',
      error: { code: 'VALUE_NOT_STORABLE' },
    });
    value = 'plain';
    expect(await app.run('run')).toMatchObject({ status: 'waiting', gates: [{ artifact: 'plain' }] });
  });
});

describe('a rejection', () => {
  test('of a declared gate ends the run, and says why', async ({ db }) => {
    const app = gated(db);
    await app.decide(only((await app.run('run', {})).gates), {
      approved: false,
      feedback: 'Too short.',
      by: ada,
    });
    expect(await app.run('run')).toMatchObject({ status: 'cancelled', reason: 'rejected: Too short.' });
    expect(eventsOf(db).filter((name) => name === 'RUN_FINISHED')).toHaveLength(1);
    expect((await app.run('run')).values?.log).toEqual(['first']);
  });

  test('goes where onReject leads, and the node does not run', async ({ db }) => {
    const rewriting = new StateGraph(OwnState)
      .addNode('write', ({ log }) => ({ log: [`draft ${log.length}`] }))
      .addNode('publish', () => ({ log: ['published'] }))
      .addEdge(START, 'write')
      .addEdge('write', 'publish')
      .addConditionalEdges('publish', ({ log }) => (log.at(-1) === 'published' ? END : 'write'), [
        'write',
        END,
      ]);
    const onReject = (_state: unknown, feedback: string | undefined) => ({ log: [`note: ${feedback}`] });
    const app = durable(rewriting, { db, gates: { publish: { show: ({ log }) => log.at(-1), onReject } } });
    const first = only((await app.run('run', {})).gates);
    await app.decide(first, { approved: false, feedback: 'Shorter.', by: ada });
    const second = only((await app.run('run')).gates);
    expect(second).toMatchObject({ artifact: 'draft 2' });
    expect(second.artifactHash).not.toBe(first.artifactHash);
    await app.decide(second, { approved: true, by: ada });
    expect((await app.run('run')).values?.log).toEqual(['draft 0', 'note: Shorter.', 'draft 2', 'published']);
  });
});

describe('a run on a changed graph', () => {
  const renamed = () =>
    new StateGraph(OwnState)
      .addNode('first', says('first'))
      .addNode('other', says('other'))
      .addEdge(START, 'first')
      .addEdge('first', 'other')
      .addEdge('other', END);
  const Wider = Annotation.Root({ ...OwnState.spec, extra: Annotation<string>() });
  const withChannel = () =>
    new StateGraph(Wider)
      .addNode('first', says('first'))
      .addNode('second', says('second'))
      .addEdge(START, 'first')
      .addEdge('first', 'second')
      .addEdge('second', END);

  test.for([
    ['a renamed node', (db: Database) => durable(renamed(), { db, gates: { other: () => 'x' } })],
    ['a gate moved', (db: Database) => durable(twoSteps(), { db, gates: { first: () => 'x' } })],
    ['a gate removed', (db: Database) => durable(twoSteps(), { db })],
    [
      'another version',
      (db: Database) => durable(twoSteps(), { db, gates: { second: () => 'x' }, version: '2' }),
    ],
  ] as const)('with %s is refused by name, and nothing is written', async ([_what, changed], { db }) => {
    await gated(db).run('run', {});
    const before = everyTable(db);
    await expect(changed(db).run('run')).rejects.toMatchObject({ code: 'GRAPH_CHANGED' });
    expect(everyTable(db)).toBe(before);
  });

  test('with another channel goes on, and on the one before no more', async ({ db }) => {
    await gated(db).run('run', {});
    const wider = durable(withChannel(), { db, gates: { second: () => 'x' } });
    expect((await wider.run('run')).status).toBe('waiting');
    await expect(gated(db).run('run')).rejects.toMatchObject({
      code: 'GRAPH_CHANGED',
      context: { reason: 'earlier_graph' },
    });
  });

  test.for([
    ['with other code and other edges goes on', (log: readonly string[]) => log, []],
    ['whose gate shows something else by now asks again, and goes on', () => 'x', ['x']],
  ] as const)('%s', async ([_name, shows, askedAgain], { db }) => {
    const gate = only((await gated(db).run('run', {})).gates);
    const longer = twoSteps(says('first'), says('new code')).addEdge('first', END);
    const app = durable(longer, { db, gates: { second: ({ log }) => shows(log) } });
    await app.decide(gate, { approved: true, by: ada });
    const { gates } = await app.run('run');
    expect(gates.map(({ artifact }) => artifact)).toEqual(askedAgain);
    for (const again of gates) await app.decide(again, { approved: true, by: ada });
    expect(await app.run('run')).toMatchObject({
      status: 'completed',
      values: { log: ['first', 'new code'] },
    });
  });
});

describe('one driver', () => {
  test('refuses a second one by name while it drives, and lets it in afterwards', async ({ db, dbPath }) => {
    const { promise, resolve } = deferred();
    const started = deferred();
    const waits = async () => {
      started.resolve();
      await promise;
      return { log: ['first'] };
    };
    const app = durable(twoSteps(waits), { db });
    const first = app.run('run', {});
    const elsewhere = createDatabase({ dbPath });
    const other = durable(twoSteps(), { db: elsewhere });
    await started.promise;
    await expect(other.run('run')).rejects.toMatchObject({ code: 'THREAD_BUSY' });
    await expect(app.run('run')).rejects.toMatchObject({ code: 'THREAD_BUSY' });
    resolve();
    expect((await first).status).toBe('completed');
    expect((await other.run('run')).values?.log).toEqual(['first', 'second']);
    elsewhere.close();
  });

  test(
    'that was replaced stops with LEASE_LOST, and its node is run again by the next',
    ofOneFile('shares the file'),
    async ({ db }) => {
      let stolen = false;
      const steal = async () => {
        await step('pay', () => {
          if (!stolen) db.prepare('UPDATE threads SET lease_epoch = lease_epoch + 1').run();
          stolen = true;
        });
        return { log: ['first'] };
      };
      const app = durable(twoSteps(steal), { db });
      await expect(app.run('run', {})).rejects.toMatchObject({ code: 'LEASE_LOST' });
      expect(await app.values('run')).toMatchObject({ log: [] });
      db.prepare('UPDATE threads SET lease_owner = NULL').run();
      expect((await app.run('run')).values?.log).toEqual(['first', 'second']);
    },
  );

  test('is not known before it is started', async ({ db }) => {
    await expect(gated(db).run('run')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  });
});

describe('an abort signal', () => {
  test('stops between two steps and keeps what was recorded', async ({ db }) => {
    const calls: string[] = [];
    const stop = new AbortController();
    const node = async () => {
      await step('one', () => {
        calls.push('one');
        stop.abort();
      });
      await step('two', () => void calls.push('two'));
      return { log: ['first'] };
    };
    const app = durable(twoSteps(node), { db });
    expect((await app.run('run', {}, { drain: stop.signal })).status).toBe('paused');
    expect(calls).toEqual(['one']);
    expect((await app.run('run')).values?.log).toEqual(['first', 'second']);
    expect(calls).toEqual(['one', 'two']);
  });

  test('lets a call end whose recorded work began after the stop', async ({ db }) => {
    const stop = new AbortController();
    const node = async () => {
      const said = await step('call', async () => {
        stop.abort();
        return step('call: work', () => 'checked', { kind: 'work' });
      });
      return { log: [said] };
    };
    const app = durable(twoSteps(node), { db });
    expect((await app.run('nested', {}, { drain: stop.signal })).status).toBe('paused');
    const names = internalsOf(app)
      .store.steps.listForThread('nested')
      .map(({ name, state }) => `${name} ${state}`);
    expect(names.toSorted()).toEqual(['call done', 'call: work done']);
  });

  test('stops between two nodes', async ({ db }) => {
    const stop = new AbortController();
    const node = () => {
      stop.abort();
      return { log: ['first'] };
    };
    const app = durable(twoSteps(node), { db });
    const drained = await app.run('run', {}, { drain: stop.signal });
    expect(drained).toMatchObject({ status: 'paused', values: { log: ['first'] } });
    expect((await app.run('run')).values?.log).toEqual(['first', 'second']);
  });

  test('that was given before does nothing and leaves the run free', async ({ db }) => {
    const app = gated(db);
    const drained = await app.run('run', {}, { drain: AbortSignal.abort() });
    expect(drained).toMatchObject({ status: 'paused', values: null });
    expect(internalsOf(app).store.threads.require('run').leaseOwner).toBeNull();
    expect((await app.run('run')).status).toBe('waiting');
  });

  test('is not needed: a node may stop the run by itself', async ({ db }) => {
    let stops = 1;
    const node = () => {
      if (stops > 0) {
        stops -= 1;
        throw new GraphDrained('enough for today');
      }
      return { log: ['first'] };
    };
    const app = durable(twoSteps(node), { db });
    expect(await app.run('run', {})).toMatchObject({ status: 'paused', reason: 'enough for today' });
    expect(await app.runDue()).toEqual({ driven: [], refused: [] });
    expect((await app.run('run')).status).toBe('completed');
  });
});

describe('a node that throws', () => {
  test('ends the drive as failed, masked; the next run tries it again and keeps its steps', async ({
    db,
  }) => {
    let attempts = 0;
    let paid = 0;
    const node = async () => {
      await step('pay', () => {
        paid += 1;
      });
      attempts += 1;
      if (attempts < 3) throw new Error('no luck, password=hunter2');
      return { log: ['first'] };
    };
    const app = durable(twoSteps(node), { db });
    const failed = await app.run('run', {}, { throwOnFailure: false });
    expect(failed).toMatchObject({ status: 'failed', reason: 'no luck, [SECRET=REDACTED]' });
    expect(internalsOf(app).store.threads.require('run').status).toBe('failed');
    expect((await app.run('run', undefined, { throwOnFailure: false })).status).toBe('failed');
    expect((await app.run('run')).values?.log).toEqual(['first', 'second']);
    expect(paid).toBe(1);
    expect(eventsOf(db)).toContain('NODE_FAILED');
  });

  test('beside a finished sibling does not make that one run again', async ({ db }) => {
    let fails = true;
    const runs: string[] = [];
    const right = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20)); // after `left` is done
      if (fails) throw new Error('no');
      return { log: ['right'] };
    };
    const left = () => {
      runs.push('left');
      return { log: ['left'] };
    };
    const app = durable(twoBranches(left, right), { db });
    expect((await app.run('run', {}, { throwOnFailure: false })).status).toBe('failed');
    fails = false;
    expect((await app.run('run')).values?.log).toEqual(['start', 'left', 'right']);
    expect(runs).toEqual(['left']);
  });

  test('leaves a sibling behind whose late writes are refused once the run was claimed again', async ({
    db,
  }) => {
    const { promise, resolve } = deferred();
    const late: string[] = [];
    const begun = deferred();
    let runs = 0;
    const right = async () => {
      runs += 1;
      const mine = `right ${runs}`;
      begun.resolve();
      if (runs === 1) await promise;
      await step('pay', () => void late.push(mine));
      return { log: [mine] };
    };
    let fails = true;
    const left = async () => {
      if (!fails) {
        resolve(); // the first `right` goes on while the second is driven
        return { log: ['left'] };
      }
      await begun.promise;
      fails = false;
      throw new Error('no');
    };
    const app = durable(twoBranches(left, right), { db });
    expect((await app.run('run', {}, { throwOnFailure: false })).status).toBe('failed');
    expect((await app.run('run')).values?.log).toEqual(['start', 'left', 'right 2']);
    expect(late).toEqual(['right 2']);
  });
});

describe('the depth guard', () => {
  const LIMIT = 7;

  test('stops a circle with one question, and its answer is a new grant', async ({ db }) => {
    const visits: string[] = [];
    const app = durable(
      circle((node) => visits.push(node)),
      { db, guards: { maxDepth: LIMIT } },
    );
    const first = await app.run('run', {});
    expect(first.gates).toMatchObject([
      { kind: 'recursion_limit', artifact: { depth: LIMIT, limit: LIMIT }, taskId: 'run' },
    ]);
    expect(visits).toHaveLength(LIMIT - 1);
    expect((await app.run('run')).gates).toEqual(first.gates);
    await app.decide(only(first.gates), { action: 'continue', by: ada });
    const second = await app.run('run');
    expect(visits).toHaveLength(2 * LIMIT - 1);
    await app.decide(only(second.gates), { action: 'abort', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'cancelled', reason: 'aborted by a human' });
    expect(visits).toHaveLength(2 * LIMIT - 1);
    const events = eventsOf(db);
    expect(events.filter((name) => name === 'RECURSION_LIMIT_REACHED')).toHaveLength(2);
    expect(events).toContain('RECURSION_DEPTH_WARNING');
  });

  test('stops three nodes in a circle within 25 transitions where nobody set a limit', async ({ db }) => {
    const visits: string[] = [];
    const app = durable(
      circle((node) => visits.push(node)),
      { db },
    );
    expect((await app.run('run', {})).gates).toMatchObject([{ kind: 'recursion_limit' }]);
    expect(visits).toHaveLength(MAX_RECURSION_DEPTH - 1);
  });

  test('counts exactly over restarts', async ({ db, dbPath }) => {
    const visits: string[] = [];
    let stop = new AbortController();
    const graph = () =>
      circle((node) => {
        visits.push(node);
        stop.abort();
      });
    for (let restarts = 0; restarts < LIMIT - 1; restarts += 1) {
      stop = new AbortController();
      const file = createDatabase({ dbPath });
      const app = durable(graph(), { db: file, guards: { maxDepth: LIMIT } });
      expect((await app.run('run', {}, { drain: stop.signal })).status).toBe('paused');
      file.close();
    }
    const app = durable(graph(), { db, guards: { maxDepth: LIMIT } });
    expect((await app.run('run')).gates).toMatchObject([{ kind: 'recursion_limit' }]);
    expect(visits).toHaveLength(LIMIT - 1);
  });

  test('starts anew at progress(), so a long run that gets on is never stopped', async ({ db }) => {
    let visits = 0;
    const endless = new StateGraph(OwnState)
      .addNode('work', () => {
        visits += 1;
        if (visits % 5 === 0) progress();
        return {};
      })
      .addEdge(START, 'work')
      .addConditionalEdges('work', () => (visits < 60 ? 'work' : END), ['work', END]);
    const app = durable(endless, { db, guards: { maxDepth: LIMIT } });
    expect((await app.run('run', {})).status).toBe('completed');
    expect(visits).toBe(60);
  });

  test('is not LangGraph’s: forty nodes in a row need no recursionLimit', async ({ db }) => {
    let visits = 0;
    const long = new StateGraph(OwnState)
      .addNode('work', () => {
        visits += 1;
        return {};
      })
      .addEdge(START, 'work')
      .addConditionalEdges('work', () => (visits < 40 ? 'work' : END), ['work', END]);
    expect((await durable(long, { db, guards: { maxDepth: 100 } }).run('run', {})).status).toBe('completed');
  });
});

describe('the failure gate', () => {
  test('keeps the output, then asks at the next node; skip passes over that node', async ({ db }) => {
    const app = durable(
      twoSteps(() => repeating({ log: ['first'] }, 0.8)),
      { db },
    );
    const asked = await app.run('run', {});
    expect(asked).toMatchObject({ status: 'waiting', values: { log: ['first'] } });
    const gate = only(asked.gates);
    expect(gate).toMatchObject({
      kind: 'task_failure',
      taskId: 'run',
      message: 'Node "first" makes no progress.',
    });
    await app.decide(gate, { action: 'skip', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['first'] } });
    expect(await app.gates('run')).toEqual([]);
  });

  test('below its threshold asks nobody, and the reserved key reaches no channel', async ({ db }) => {
    const app = durable(
      twoSteps(() => repeating({ log: ['first'] }, 0.3)),
      {
        db,
        guards: { entropyThreshold: 0.31 },
      },
    );
    const { status, values } = await app.run('run', {});
    expect(status).toBe('completed');
    expect(values).not.toHaveProperty('__metadata__');
  });

  test('can be tripped again once it was answered', async ({ db }) => {
    const stuck = () => repeating({ log: ['again'] }, 1);
    const app = durable(twoSteps(stuck, stuck), { db });
    const first = only((await app.run('run', {})).gates);
    await app.decide(first, { action: 'retry', by: ada });
    const second = only((await app.run('run')).gates);
    expect(second.sessionId).not.toBe(first.sessionId);
    await app.decide(second, { action: 'retry', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['again', 'again'] } });
  });

  test('of two branches that wait for it asks once, and one answer lets both go on', async ({ db }) => {
    const app = durable(
      twoBranches(says('left'), says('right'), () => repeating({ log: ['start'] }, 1)),
      { db },
    );
    const { gates } = await app.run('run', {});
    await app.decide(only(gates), { action: 'retry', by: ada });
    expect((await app.run('run')).values?.log).toEqual(['start', 'left', 'right']);
  });

  test('tripped by the last node asks before the run is called complete', async ({ db }) => {
    const app = durable(
      twoSteps(says('first'), () => repeating({ log: ['second'] }, 1)),
      { db },
    );
    const { status, gates } = await app.run('run', {});
    expect(status).toBe('waiting');
    expect(gates).toMatchObject([{ message: 'Node "second" makes no progress.' }]);
    expect((await app.run('run')).gates).toEqual(gates);
    await app.decide(only(gates), { action: 'retry', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['first', 'second'] } });
    expect((await app.run('run')).status).toBe('completed');
  });

  test('tripped by the last node and aborted cancels the run', async ({ db }) => {
    const app = durable(
      twoSteps(says('first'), () => repeating({}, 1)),
      { db },
    );
    await app.decide(only((await app.run('run', {})).gates), { action: 'abort', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'cancelled', reason: 'aborted by a human' });
  });

  test('before a node with a gate of its own and aborted leaves that gate unasked', async ({ db }) => {
    const app = durable(
      twoSteps(() => repeating({ log: ['first'] }, 1)),
      { db, gates: { second: ({ log }) => log } },
    );
    const gate = only((await app.run('run', {})).gates);
    expect(gate.kind).toBe('task_failure');
    await app.decide(gate, { action: 'abort', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'cancelled', reason: 'aborted by a human' });
    expect(internalsOf(app).store.sessions.listClosed('run')).toMatchObject([{ kind: 'task_failure' }]);
  });

  test('cannot be decided before the output it is about is on disk', async ({ db }) => {
    const events = new EventBus();
    const app = durable(
      twoSteps(() => repeating({ log: ['first'] }, 1)),
      { db, events },
    );
    const codes: Promise<string>[] = [];
    events.on('FAILURE_GATE_OPENED', ({ sessionId }) => {
      const tooEarly = { sessionId, artifactHash: 'a'.repeat(64) };
      codes.push(codeOf(app.decide(tooEarly, { action: 'retry', by: ada })));
    });
    expect((await app.run('run', {})).status).toBe('waiting');
    // Elsewhere the news may come after the output: it is another version then.
    const refused = HAS_FILES ? /^GATE_(NOT_READY|STALE)$/ : /^GATE_NOT_READY$/;
    expect(await Promise.all(codes)).toEqual([expect.stringMatching(refused)]);
  });

  test('refuses a score that is none, as a failure of the node', async ({ db }) => {
    const app = durable(
      twoSteps(() => repeating({}, Number.NaN)),
      { db },
    );
    expect(await app.run('run', {}, { throwOnFailure: false })).toMatchObject({ status: 'failed' });
  });
});

describe('a run that is taken over', () => {
  const dead = { ...localHost(), pid: 4_194_300, startTime: '1' };
  const leaveBehind = (db: Database) => new ThreadStore(db, { host: dead }).claim('run');

  /** So many drivers begin the run and die, one after the other; `worked`: after they have begun a node. */
  function diesOften(db: Database, drivers: number, { now = Date.now, worked = false } = {}): void {
    const threads = new ThreadStore(db, { host: dead, now });
    for (let driver = 0; driver < drivers; driver += 1) {
      const claim = threads.claim('run');
      if (claim.kind === 'busy') throw new Error('The dead driver counts as alive.');
      threads.begin(claim.lease, { recovered: claim.recovered });
      if (worked) threads.markWorked(claim.lease);
    }
  }

  test(
    'ends as dead letter once five drivers have died that committed nothing',
    ofOneFile('plants rows'),
    async ({ db }) => {
      const app = durable(twoSteps(), { db });
      await internalsOf(app).recordRun({ threadId: 'run', input: {} });
      await plant(db, (file) => diesOften(file, 5, { worked: true }));
      expect(await app.run('run', undefined, { throwOnFailure: false })).toMatchObject({
        status: 'dead_letter',
        reason: '5 processes died while executing it, without progress',
      });
      expect(await app.values('run')).toBeNull();
    },
  );

  test('is not given up because a machine goes down again and again before it works', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await internalsOf(app).recordRun({ threadId: 'run', input: {} });
    await plant(db, (file) => diesOften(file, 50));
    expect(new ThreadStore(db).require('run').recoveries).toBe(1);
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
  });

  test(
    'is given up when that goes on for long: reading it may be what kills them',
    ofOneFile('plants rows'),
    async ({ db }) => {
      const app = durable(twoSteps(), { db });
      await internalsOf(app).recordRun({ threadId: 'run', input: {} });
      let clock = Date.now() - 10 * RECOVERY_SPAN_MS;
      await plant(db, (file) => diesOften(file, 12, { now: () => (clock += RECOVERY_SPAN_MS / 2) }));
      expect(await app.run('run', undefined, { throwOnFailure: false })).toMatchObject({
        status: 'dead_letter',
      });
    },
  );

  test(
    'and given up is brought back by a human, who is on record, and by nobody else',
    ofOneFile('plants rows'),
    async ({ db }) => {
      const app = durable(twoSteps(), { db });
      await internalsOf(app).recordRun({ threadId: 'run', input: {} });
      await plant(db, (file) => diesOften(file, 5, { worked: true }));
      await app.run('run', undefined, { throwOnFailure: false });
      await expect(app.revive('run', { by: { kind: 'agent', id: 'gpt' } })).rejects.toMatchObject({
        code: 'AGENT_MAY_NOT_DECIDE',
      });
      expect(await app.revive('run', { by: ada })).toBe(true);
      expect(new ThreadStore(db).require('run')).toMatchObject({
        status: 'paused',
        reason: 'revived by human:ada',
        recoveries: 0,
        leaseOwner: null,
      });
      expect(new EventStore(db).listNamed('run', 'RUN_REVIVED')).toMatchObject([
        { payload: { principal: 'human:ada' } },
      ]);
      expect(await app.revive('run', { by: ada })).toBe(false);
      expect(await app.run('run')).toMatchObject({ status: 'completed' });
      expect(await app.revive('run', { by: ada })).toBe(false);
      expect(new EventStore(db).listNamed('run', 'RUN_REVIVED')).toHaveLength(1);
    },
  );

  test(
    'and given up is not brought back into a folder that is another run’s now',
    notThroughRuns('asks another method'),
    async ({ db }) => {
      const app = durable(twoSteps(), { db });
      await internalsOf(app).recordRun({ threadId: 'run', input: {}, workspace: '/w' });
      await plant(db, (file) => diesOften(file, 5, { worked: true }));
      await app.run('run', undefined, { throwOnFailure: false });
      await internalsOf(app).recordRun({ threadId: 'other', input: {}, workspace: '/w' });
      await expect(app.revive('run', { by: ada })).rejects.toMatchObject({ code: 'WORKSPACE_BUSY' });
      expect(new ThreadStore(db).require('run')).toMatchObject({ status: 'dead_letter', leaseOwner: null });
    },
  );

  test('with a fault tells the fault, and not that the lease could not be given back', async ({ db }) => {
    const app = durable(
      twoSteps(() => {
        db.close();
        throw new DevsError('Full.', { code: 'STATE_DISK_FULL', remedy: 'Free space.' });
      }),
      { db },
    );
    await expect(app.run('run', {})).rejects.toMatchObject({ code: 'STATE_DISK_FULL' });
  });

  test('is not given up while every driver commits a super-step before it dies', async ({ db }) => {
    let stop = new AbortController();
    let visits = 0;
    const long = new StateGraph(OwnState)
      .addNode('work', () => {
        visits += 1;
        stop.abort();
        return {};
      })
      .addEdge(START, 'work')
      .addConditionalEdges('work', () => (visits < 9 ? 'work' : END), ['work', END]);
    const app = durable(long, { db });
    await internalsOf(app).recordRun({ threadId: 'run', input: {} });
    const statuses: string[] = [];
    while (statuses.at(-1) !== 'completed' && statuses.length < 12) {
      stop = new AbortController();
      await plant(db, leaveBehind);
      statuses.push((await app.run('run', undefined, { drain: stop.signal })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 8 }, () => 'paused'), 'completed']);
    expect(eventsOf(db).filter((name) => name === 'RUN_RECOVERED')).toHaveLength(9);
  });
});

describe('entry', () => {
  test('asks the same question under another clock and after another start', async ({ db, dbPath }) => {
    const at = (now: number) => () => now;
    const gates = { second: ({ log }: { readonly log: readonly string[] }) => log };
    const before = await durable(twoSteps(), { db, gates, now: at(1_000) }).run('run', {});
    const file = createDatabase({ dbPath });
    const later = durable(twoSteps(), { db: file, gates, now: at(9e12) });
    expect((await later.run('run')).gates).toEqual(before.gates);
    await later.decide(only(before.gates), { approved: true, by: ada });
    expect((await later.run('run')).status).toBe('completed');
    file.close();
  });
});

describe('a settled run', () => {
  test('is told as it is, adds nothing to its story, and can be asked again', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    const first = await app.run('run', {});
    const story = eventsOf(db);
    expect(await app.run('run', {})).toEqual(first);
    expect(eventsOf(db)).toEqual(story);
  });

  test('that is waiting can be cancelled by a signal', async ({ db }) => {
    const app = gated(db);
    await app.run('run', {});
    await plant(db, (file) => new ThreadStore(file).signal('run', { id: 's', kind: 'cancel', payload: {} }));
    expect(await app.run('run')).toMatchObject({ status: 'cancelled', reason: 'cancelled by request' });
    expect(statusesOf(db)).toEqual(['cancelled']);
  });
});
