import { HumanMessage, RemoveMessage } from '@langchain/core/messages';
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  StateSchema,
  UntrackedValue,
} from '@langchain/langgraph';
import { InMemoryCache } from '@langchain/langgraph-checkpoint';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { listOf } from '../../../../test/support/listOf.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { isDevsError } from '../../../errors/DevsError.ts';
import { twoBranches } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { RunStreams } from '../RunStreams.ts';
import { runEnded } from '../runStreamEvents.ts';
import type { LastingEvent } from '../StreamEvent.ts';
import { streamRun } from '../streamRun.ts';

const ADA = { kind: 'human', id: 'ada' } as const;
const EVERYTHING = { streamMode: ['updates', 'values', 'custom'] } as const;

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

/** Two nodes; the first one tells twice what it does. */
const twoNodes = () =>
  new StateGraph(State)
    .addNode('first', async (_state, { writer }) => {
      writer?.({ at: 1 });
      writer?.({ at: 2 });
      return { log: ['first'] };
    })
    .addNode('second', () => ({ log: ['second'] }))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', END);

/** A node that tells, asks and tells again. */
const asking = () =>
  new StateGraph(State)
    .addNode('ask', async (_state, { writer }) => {
      writer?.('before');
      const answer = String(interrupt('Really?'));
      writer?.(`after ${answer}`);
      return { log: [answer] };
    })
    .addEdge(START, 'ask')
    .addEdge('ask', END);

const customOf = (events: readonly LastingEvent[]): readonly unknown[] =>
  events.flatMap((event) => (event.mode === 'custom' ? [event.data] : []));

const seqsOf = (events: readonly LastingEvent[]): readonly number[] => events.map(({ seq }) => seq);

async function codeOf(events: AsyncIterable<unknown>): Promise<unknown> {
  try {
    await listOf(events);
    return 'nothing was thrown';
  } catch (error) {
    return isDevsError(error) ? [error.code, error.context['why']] : (error as Error).name;
  }
}

describe('a stream that drives', () => {
  test('has chunks, the end, and a number for each', async ({ dbPath }) => {
    const app = durable(twoNodes(), { file: dbPath });
    const events = await listOf(app.stream('run', { log: ['begun'] }, EVERYTHING));
    const places = events.flatMap((event) => (event.mode === 'values' ? (event.checkpoint ?? []) : []));
    const [first, second, third] = places.map((checkpoint) => ({ checkpoint }));
    expect(places.map(({ step, source }) => [step, source])).toEqual([0, 1, 2].map((step) => [step, 'loop']));
    expect(places.slice(1).map(({ parentId }) => parentId)).toEqual(places.slice(0, 2).map(({ id }) => id));
    expect(events).toEqual([
      { seq: 1, mode: 'values', ns: [], data: { log: ['begun'] }, ...first },
      { seq: 2, mode: 'custom', ns: [], data: { at: 1 } },
      { seq: 3, mode: 'custom', ns: [], data: { at: 2 } },
      { seq: 4, mode: 'updates', ns: [], data: { first: { log: ['first'] } } },
      { seq: 5, mode: 'values', ns: [], data: { log: ['begun', 'first'] }, ...second },
      { seq: 6, mode: 'updates', ns: [], data: { second: { log: ['second'] } } },
      { seq: 7, mode: 'values', ns: [], data: { log: ['begun', 'first', 'second'] }, ...third },
      { seq: 8, mode: 'end', status: 'completed', reason: null },
    ]);
    app.close();
  });

  test('has what a task wrote before the values that come of it, however long that takes to be stored', async ({
    dbPath,
  }) => {
    const builder = new StateGraph(MessagesAnnotation)
      .addNode('forget', () => ({ messages: [new RemoveMessage({ id: 'said' })] }))
      .addEdge(START, 'forget');
    const app = durable(builder, { file: dbPath });
    const messages = [new HumanMessage({ id: 'said', content: 'Forget it.' })];
    const events = await listOf(app.stream('run', { messages }, EVERYTHING));
    expect(events.map(({ mode }) => mode)).toEqual(['values', 'updates', 'values', 'end']);
    expect(events[2]).toMatchObject({ data: { messages: [] } });
    app.close();
  });

  test('tells what a branch wrote before another one failed once', async ({ dbPath }) => {
    let isDown = true;
    const graph = twoBranches(
      () => ({ log: ['left'] }),
      async () => {
        await new Promise(setImmediate);
        if (isDown) throw new Error('The service is down.');
        return { log: ['right'] };
      },
    );
    const app = durable(graph, { file: dbPath });
    const first = await listOf(app.stream('run', {}, { throwOnFailure: false }));
    isDown = false;
    const second = await listOf(app.stream('run'));
    const told = [...first, ...second].flatMap((event) => ('data' in event ? Object.keys(event.data) : []));
    expect(told).toEqual(['start', 'left', 'right']);
    app.close();
  });

  test('has updates without being asked for a mode, as LangGraph has', async ({ dbPath }) => {
    const app = durable(twoNodes(), { file: dbPath });
    expect((await listOf(app.stream('run', {}))).map(({ mode }) => mode)).toEqual([
      'updates',
      'updates',
      'end',
    ]);
    app.close();
  });

  test('ends where the run waits, with its gate, and goes on with what is new', async ({ dbPath }) => {
    const app = durable(asking(), { file: dbPath });
    const first = await listOf(app.stream('run', {}, EVERYTHING));
    expect(first.map(({ mode }) => mode)).toEqual(['custom', 'gate']);
    expect(await listOf(app.stream('run', undefined, EVERYTHING))).toEqual([]); // it still waits: nothing is new
    const [, opened] = first;
    if (opened?.mode !== 'gate') throw new Error('There is no gate.');
    expect(opened.gate.artifact).toBe('Really?');
    await app.decide(opened.gate, { value: 'yes', by: ADA });
    const second = await listOf(app.stream('run', undefined, EVERYTHING));
    expect(customOf([...first, ...second])).toEqual(['before', 'after yes']);
    expect(seqsOf([...first, ...second])).toEqual([1, 2, 3, 4, 5, 6]);
    app.close();
  });

  test('stops at the next safe point when its reader leaves, and another one goes on', async ({ dbPath }) => {
    const app = durable(twoNodes(), { file: dbPath });
    for await (const { mode } of app.stream('run', {}, EVERYTHING)) if (mode === 'custom') break;
    expect(internalsOf(app).store.threads.require('run')).toMatchObject({
      status: 'paused',
      leaseOwner: null,
    });
    const rest = await listOf(app.stream('run', undefined, { ...EVERYTHING, after: 2 }));
    expect(seqsOf(rest)).toEqual([3, 4, 5, 6, 7]);
    expect(rest.at(-1)).toMatchObject({ mode: 'end', status: 'completed' });
    app.close();
  });

  test('stops when its signal is aborted, before and meanwhile', async ({ dbPath }) => {
    const app = durable(twoNodes(), { file: dbPath });
    const before = AbortSignal.abort();
    expect(seqsOf(await listOf(app.stream('run', {}, { drain: before })))).toEqual([]);
    const meanwhile = new AbortController();
    for await (const { mode } of app.stream('run', {}, { ...EVERYTHING, drain: meanwhile.signal })) {
      if (mode === 'custom') meanwhile.abort();
    }
    expect(internalsOf(app).store.threads.require('run').status).toBe('paused');
    expect((await app.run('run')).status).toBe('completed');
    app.close();
  });

  test('is not held up by a reader that takes nothing', async ({ dbPath }) => {
    const app = durable(twoNodes(), { file: dbPath });
    const events = app.stream('run', {}, EVERYTHING);
    await events.next();
    while (internalsOf(app).store.threads.require('run').status !== 'completed')
      await new Promise(setImmediate);
    expect(seqsOf(await listOf(events))).toEqual([2, 3, 4, 5, 6, 7]);
    app.close();
  });

  test('rejects as run does, after what it has', async ({ dbPath }) => {
    const app = durable(asking(), { file: dbPath });
    expect(await codeOf(app.stream('nobody'))).toEqual(['THREAD_NOT_FOUND', undefined]);
    await app.run('run', { log: ['one'] });
    expect(await codeOf(app.stream('run', { log: ['two'] }))).toEqual(['INPUT_NOT_TAKEN', undefined]);
    await internalsOf(app).withLease('run', async () => {
      expect(await codeOf(app.stream('run'))).toEqual(['THREAD_BUSY', undefined]);
    });
    app.close();
  });

  test('refuses other options before anything is written', async ({ dbPath }) => {
    const app = durable(twoNodes(), { file: dbPath });
    const wrong = [
      { streamMode: 'debug' },
      { streamMode: ['updates', 'tokens'] },
      { streamMode: 7 },
      { subgraphs: 'yes' },
      { after: -1 },
      { after: 1.5 },
      { after: Number.NaN },
    ];
    for (const options of wrong) {
      expect(await codeOf(app.stream('run', {}, options as never))).toMatch(/^(?:Range|Type)Error$/);
    }
    expect(internalsOf(app).store.threads.get('run')).toBeNull();
    app.close();
  });
});

describe('a stream that only reads', () => {
  test('has the same, of a run that somebody else drove without streaming it', async ({ dbPath }) => {
    const driver = durable(twoNodes(), { file: dbPath });
    await driver.run('run', {});
    driver.close();
    const reader = durable(twoNodes(), { file: dbPath });
    const events = await listOf(reader.stream('run', null, EVERYTHING));
    expect(seqsOf(events)).toEqual([1, 2, 3, 4, 5, 6, 7].slice(0, events.length));
    expect(await listOf(reader.stream('run', null, { ...EVERYTHING, after: 3 }))).toEqual(events.slice(3));
    expect(await listOf(reader.stream('run', null, { streamMode: 'custom', after: 1 }))).toHaveLength(2);
    reader.close();
  });

  test('follows what another connection writes, over gates, until the run has ended', async ({ dbPath }) => {
    const driver = durable(asking(), { file: dbPath });
    const reader = durable(asking(), { file: dbPath });
    await driver.run('run', {});
    const read = listOf(reader.stream('run', null, EVERYTHING));
    const [gate] = await driver.gates('run');
    if (gate === undefined) throw new Error('There is no gate.');
    await driver.decide(gate, { value: 'yes', by: ADA });
    await driver.run('run');
    const events = await read;
    expect(seqsOf(events)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(customOf(events)).toEqual(['before', 'after yes']);
    driver.close();
    reader.close();
  });

  test('ends when its signal is aborted', async ({ dbPath }) => {
    const app = durable(asking(), { file: dbPath });
    await app.run('run', {});
    const stop = new AbortController();
    const events = app.stream('run', null, { signal: stop.signal });
    await events.next();
    const rest = listOf(events);
    stop.abort();
    expect(await rest).toEqual([]);
    app.close();
  });

  test('ends with each end of a run that failed and was driven again', async ({ dbPath }) => {
    let isDown = true;
    const builder = new StateGraph(State)
      .addNode('call', () => {
        if (isDown) throw new Error('The service is down.');
        return { log: ['called'] };
      })
      .addEdge(START, 'call')
      .addEdge('call', END);
    const app = durable(builder, { file: dbPath });
    await app.run('run', {}, { throwOnFailure: false });
    const first = await listOf(app.stream('run', null));
    expect(first.at(-1)).toMatchObject({ status: 'failed', reason: 'The service is down.' });
    isDown = false;
    await app.run('run');
    const after = first.at(-1)?.seq ?? 0;
    const second = await listOf(app.stream('run', null, { after }));
    expect(second.map(({ mode }) => mode)).toEqual(['updates', 'end']);
    app.close();
  });

  test('has the end of a run that ends between two looks', async ({ dbPath }) => {
    const app = durable(asking(), { file: dbPath });
    await app.run('run', {});
    const { store } = internalsOf(app);
    const streams = new RunStreams(store.db, 10);
    const page = streams.store.page.bind(streams.store);
    let hasEnded = false;
    streams.store.page = (...asked) => {
      const events = page(...asked);
      if (events.length > 0 || hasEnded) return events;
      hasEnded = true;
      streams.store.append('run', runEnded('cancelled', null), 10);
      store.db.exec("UPDATE threads SET status = 'cancelled'");
      return events;
    };
    const parts = { store, streams, saver: {} as never, stateAt: async () => null };
    const events = await listOf(streamRun('run', {}, null, parts));
    expect(events.map(({ mode }) => mode)).toEqual(['gate', 'end']);
    app.close();
  });

  test('tells the end of a run that was cancelled while nobody drove it', async ({ dbPath }) => {
    const app = durable(asking(), { file: dbPath });
    await app.run('run', {});
    await app.cancel('run');
    expect((await listOf(app.stream('run', null))).at(-1)).toMatchObject({
      mode: 'end',
      status: 'cancelled',
    });
    app.close();
  });
});

describe('what a cache gives', () => {
  test('is told as LangGraph tells it, with its mark, for whoever reads it later, too', async ({
    dbPath,
  }) => {
    const builder = new StateGraph(State)
      .addNode('costly', () => ({ log: ['made'] }), { cachePolicy: { keyFunc: () => 'the same' } })
      .addEdge(START, 'costly')
      .addEdge('costly', END);
    const app = durable(builder, { file: dbPath, cache: new InMemoryCache() });
    await app.run('made', {});
    const [told] = await listOf(app.stream('given', {}));
    const data = { costly: { log: ['made'] }, __metadata__: { cached: true } };
    expect(told).toEqual({ seq: 1, mode: 'updates', ns: [], data });
    expect((await listOf(app.stream('given', null)))[0]).toEqual(told);
    app.close();
  });
});

describe('what is not kept', () => {
  test('is said, not passed over', async ({ dbPath }) => {
    const loop = new StateGraph(State)
      .addNode('again', () => ({ log: ['again'] }))
      .addEdge(START, 'again')
      .addConditionalEdges('again', ({ log }) => (log.length < 60 ? 'again' : END));
    const app = durable(loop, { file: dbPath, streams: { keep: 10 }, guards: { maxDepth: 100 } });
    await app.run('run', {});
    expect(await codeOf(app.stream('run', null, { after: 0 }))).toEqual(['STREAM_NOT_KEPT', 'trimmed']);
    const kept = seqsOf(await listOf(app.stream('run', null, EVERYTHING)));
    const last = kept.at(-1) ?? 0;
    expect(kept[0]).toBe(last - (last % 64) - 9); // ten were left when the 64th came
    expect(kept).toEqual(kept.map((_, at) => (kept[0] as number) + at));
    expect(await listOf(app.stream('run', null, { after: last }))).toEqual([]);
    expect(await codeOf(app.stream('run', null, { after: last + 1 }))).toEqual(['STREAM_NOT_KEPT', 'ahead']);
    app.close();
  });

  test('is what a pruned checkpoint held', async ({ dbPath }) => {
    const app = durable(twoNodes(), { file: dbPath });
    await app.run('run', {});
    await app.prune('run', { keepLast: 1 });
    expect(await codeOf(app.stream('run', null, { streamMode: 'updates' }))).toEqual([
      'STREAM_NOT_KEPT',
      'pruned',
    ]);
    expect(await listOf(app.stream('run', null, { streamMode: 'custom' }))).toHaveLength(3);
    app.close();
  });

  test('is not an update of channels alone that the file does not keep', async ({ dbPath }) => {
    const Fleeting = new StateSchema({ word: z.string(), jump: new UntrackedValue(z.string()) });
    const graph = new StateGraph(Fleeting)
      .addNode('say', () => ({ word: 'said', jump: 'on' }))
      .addNode('leave', () => ({ jump: 'away' }))
      .addEdge(START, 'say')
      .addEdge('say', 'leave')
      .addEdge('leave', END);
    const app = durable(graph, { file: dbPath });
    const events = await listOf(app.stream('run', {}, { streamMode: 'updates' }));
    expect(events.map((event) => ('data' in event ? event.data : event.mode))).toEqual([
      { say: { word: 'said' } },
      { leave: { jump: 'away' } },
      'end',
    ]);
    expect(await listOf(app.stream('run', null, { streamMode: 'updates', after: 0 }))).toEqual(events);
    app.close();
  });

  test('is everything of an app that records nothing', async ({ dbPath }) => {
    const app = durable(twoNodes(), { file: dbPath, streams: false });
    expect(await codeOf(app.stream('run', {}))).toEqual(['STREAM_NOT_KEPT', 'not recorded']);
    expect(internalsOf(app).store.threads.get('run')).toBeNull();
    await app.run('run', {});
    expect(await codeOf(app.stream('run', null))).toEqual(['STREAM_NOT_KEPT', 'not recorded']);
    expect(await listOf(app.stream('run', null, { signal: AbortSignal.abort() }))).toEqual([]);
    app.close();
  });

  test.for([0, -1, 1.5, Number.NaN, '7'])('has a number: not %s', (keep, { dbPath }) => {
    expect(() => durable(twoNodes(), { file: dbPath, streams: { keep: keep as number } })).toThrow(
      RangeError,
    );
  });

  test('is a run that was removed', async ({ dbPath }) => {
    const app = durable(twoNodes(), { file: dbPath });
    await app.run('run', {});
    await internalsOf(app).withLease('run', async (lease) => internalsOf(app).store.remover.remove(lease));
    expect(await codeOf(app.stream('run', null))).toEqual(['THREAD_NOT_FOUND', undefined]);
    const { n } =
      internalsOf(app).store.db.prepare<[], { n: number }>('SELECT count(*) AS n FROM stream_events').get() ??
      {};
    expect(n).toBe(0);
    app.close();
  });
});

describe('what a node tells', () => {
  test('is told once, however often the node runs', async ({ dbPath }) => {
    let runs = 0;
    const builder = new StateGraph(State)
      .addNode(
        'flaky',
        async (_state, { writer }) => {
          runs += 1;
          writer?.('one');
          writer?.('two');
          if (runs < 3) throw new Error('Not yet.');
          writer?.('three');
          return {};
        },
        { retryPolicy: { maxAttempts: 3, initialInterval: 1, logWarning: false } },
      )
      .addEdge(START, 'flaky')
      .addEdge('flaky', END);
    const app = durable(builder, { file: dbPath });
    expect(customOf(await listOf(app.stream('run', {}, EVERYTHING)))).toEqual(['one', 'two', 'three']);
    app.close();
  });

  test('from outside of it is told once, with the write it comes before', async ({ dbPath }) => {
    let tell: ((chunk: unknown) => void) | undefined;
    let goOn = (): void => {};
    const isTold = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const builder = new StateGraph(State)
      .addNode('ask', async (_state, { writer }) => {
        tell = writer;
        writer?.('inside');
        await isTold;
        return { log: ['asked'] };
      })
      .addEdge(START, 'ask')
      .addEdge('ask', END);
    const app = durable(builder, { file: dbPath });
    const driven = app.run('run', {});
    while (tell === undefined) await new Promise(setImmediate);
    tell('outside');
    goOn();
    await driven;
    expect(customOf(await listOf(app.stream('run', null, EVERYTHING)))).toEqual(['inside', 'outside']);
    app.close();
  });

  test('keeps its order where one takes longer to be stored', async ({ dbPath }) => {
    const builder = new StateGraph(State)
      .addNode('tell', async (_state, { writer }) => {
        writer?.(new HumanMessage('first'));
        writer?.('second');
        await new Promise(setImmediate);
        writer?.('third');
        return { log: ['told'] };
      })
      .addEdge(START, 'tell')
      .addEdge('tell', END);
    const app = durable(builder, { file: dbPath });
    const told = customOf(await listOf(app.stream('run', {}, EVERYTHING)));
    expect(told.map((chunk) => (chunk instanceof HumanMessage ? chunk.text : chunk))).toEqual([
      'first',
      'second',
      'third',
    ]);
    app.close();
  });

  test('may be as large as a value, and is refused where it was changed in the file', async ({ dbPath }) => {
    const whole = 'x'.repeat(1024 * 1024 - 2); // and its quotation marks
    const builder = new StateGraph(State)
      .addNode('tell', async (_state, { writer }) => {
        writer?.(whole);
        return {};
      })
      .addEdge(START, 'tell')
      .addEdge('tell', END);
    const app = durable(builder, { file: dbPath });
    expect(customOf(await listOf(app.stream('run', {}, EVERYTHING)))).toEqual([whole]);
    internalsOf(app).store.db.exec("UPDATE stream_events SET value = x'22792222' WHERE value IS NOT NULL");
    expect(await codeOf(app.stream('run', null, EVERYTHING))).toEqual(['STATE_CORRUPT', undefined]);
    app.close();
  });

  test.for([
    ['a function', () => () => {}, 'VALUE_NOT_STORABLE'],
    ['more than a value may have', () => 'x'.repeat(1024 * 1024 + 1), 'VALUE_TOO_LARGE'],
  ] as const)('is refused where it is %s, and the node hears it', async ([, chunk, code], { dbPath }) => {
    const heard: unknown[] = [];
    const builder = new StateGraph(State)
      .addNode('tell', async (_state, { writer }) => {
        try {
          writer?.(chunk());
        } catch (error) {
          heard.push(isDevsError(error) ? error.code : error);
        }
        writer?.('that was all');
        return {};
      })
      .addEdge(START, 'tell')
      .addEdge('tell', END);
    const app = durable(builder, { file: dbPath });
    expect(customOf(await listOf(app.stream('run', {}, EVERYTHING)))).toEqual(['that was all']);
    expect(heard).toEqual([code]);
    app.close();
  });
});

describe('graphs inside nodes', () => {
  const inner = (checkpointer?: false | MemorySaver) =>
    new StateGraph(State)
      .addNode('deep', async (_state, { writer }) => {
        writer?.('from below');
        return { log: ['deep'] };
      })
      .addEdge(START, 'deep')
      .addEdge('deep', END)
      .compile(checkpointer === undefined ? {} : { checkpointer });
  const outer = (graph: ReturnType<typeof inner>) =>
    new StateGraph(State).addNode('inner', graph).addEdge(START, 'inner').addEdge('inner', END);

  test.for([
    ['that keep their checkpoints with the run', undefined],
    ['that keep none', false],
    ['that keep them elsewhere', new MemorySaver()],
  ] as const)('%s are streamed where they are asked for', async ([, checkpointer], { dbPath }) => {
    const app = durable(outer(inner(checkpointer)), { file: dbPath });
    await app.run('run', {});
    const without = await listOf(app.stream('run', null, EVERYTHING));
    const whole = await listOf(app.stream('run', null, { ...EVERYTHING, subgraphs: true }));
    expect(customOf(without)).toEqual(['from below']); // as by LangGraph
    const inside = whole.filter((event) => 'ns' in event && event.ns.length > 0 && event.mode !== 'custom');
    expect(inside).toMatchObject([
      { mode: 'values', data: { log: [] } },
      { mode: 'updates', data: { deep: { log: ['deep'] } } },
      { mode: 'values', data: { log: ['deep'] } },
    ]);
    expect(inside[0]).toHaveProperty('ns', [expect.stringMatching(/^inner:/)]);
    expect(without.length).toBe(whole.length - inside.length);
    app.close();
  });
});

describe('a retried node of a graph inside a node', () => {
  test('tells each time what it told, once', async ({ dbPath }) => {
    let runs = 0;
    const inner = new StateGraph(State)
      .addNode(
        'flaky',
        async (_state, { writer }) => {
          runs += 1;
          writer?.('one');
          if (runs < 3) throw new Error('Not yet.');
          writer?.('two');
          return {};
        },
        { retryPolicy: { maxAttempts: 3, initialInterval: 1, logWarning: false } },
      )
      .addEdge(START, 'flaky')
      .addEdge('flaky', END)
      .compile();
    const builder = new StateGraph(State)
      .addNode('inner', inner)
      .addEdge(START, 'inner')
      .addEdge('inner', END);
    const app = durable(builder, { file: dbPath });
    expect(customOf(await listOf(app.stream('run', {}, EVERYTHING)))).toEqual(['one', 'two']);
    app.close();
  });
});

describe('what the file has already', () => {
  test('is not stored a second time: updates and values, also of graphs inside nodes', async ({ dbPath }) => {
    const inner = twoNodes().compile();
    const builder = new StateGraph(State)
      .addNode('inner', inner)
      .addNode('twice', () => [
        new Command({ update: { log: ['once'] } }),
        new Command({ update: { log: ['again'] } }),
      ])
      .addEdge(START, 'inner')
      .addEdge('inner', 'twice')
      .addEdge('twice', END);
    const app = durable(builder, { file: dbPath });
    const events = await listOf(app.stream('run', {}));
    expect(events.at(-2)).toMatchObject({ data: { twice: [{ log: ['once'] }, { log: ['again'] }] } });
    const stored = internalsOf(app)
      .store.db.prepare<[], { mode: string; n: number }>(
        'SELECT mode, count(*) AS n FROM stream_events WHERE value IS NOT NULL GROUP BY mode',
      )
      .all();
    expect(stored).toEqual([{ mode: 'custom', n: 2 }]);
    app.close();
  });
});

describe('a driver that was replaced', () => {
  test('tells nothing more', async ({ dbPath }) => {
    const other = createDatabase({ dbPath });
    const builder = new StateGraph(State)
      .addNode('sleepy', async (_state, { writer }) => {
        other.prepare('UPDATE threads SET lease_epoch = lease_epoch + 1').run();
        writer?.('from the dead');
        await new Promise(setImmediate);
        return { log: ['late'] };
      })
      .addEdge(START, 'sleepy')
      .addEdge('sleepy', END);
    const app = durable(builder, { file: dbPath });
    expect(await codeOf(app.stream('run', {}, EVERYTHING))).toEqual(['LEASE_LOST', undefined]);
    const { n } =
      other
        .prepare<[], { n: number }>("SELECT count(*) AS n FROM stream_events WHERE mode <> 'values'")
        .get() ?? {};
    expect(n).toBe(0);
    app.close();
    other.close();
  });
});
