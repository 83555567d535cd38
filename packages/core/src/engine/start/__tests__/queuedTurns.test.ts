import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { listOf } from '../../../../test/support/listOf.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { damagedValues } from '../../../state/doctor/damagedValues.ts';
import { durable } from '../../app/durable.ts';
import type { StreamEvent } from '../../stream/StreamEvent.ts';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

const ada = { kind: 'human', id: 'ada' } as const;

/** Says what it was given last, once `until` lets it. */
const saying = (until: (text: string) => Promise<unknown> | unknown = () => {}) =>
  new StateGraph(State)
    .addNode('say', async ({ log }) => {
      const text = log.at(-1) ?? '';
      await until(text);
      return { log: [`said ${text}`] };
    })
    .addEdge(START, 'say');

const asking = () =>
  new StateGraph(State)
    .addNode('ask', ({ log }) => ({ log: [`${log.at(-1)}: ${String(interrupt('Well?'))}`] }))
    .addEdge(START, 'ask');

const enqueue = (turn: string) => ({ turn, multitaskStrategy: 'enqueue' }) as const;

const statuses = (turns: readonly { readonly turn: string | null; readonly status: string }[]) =>
  Object.fromEntries(turns.map(({ turn, status }) => [turn, status]));

/** The app works until the returned function is called. */
function working(app: { work(options: { signal: AbortSignal }): Promise<void> }) {
  const stop = new AbortController();
  const worked = app.work({ signal: stop.signal });
  return async () => {
    stop.abort();
    await worked;
  };
}

const untilEnded = async (
  app: { result: (id: string) => Promise<{ status: string; turn?: string }> },
  turn: string,
) => {
  for (;;) {
    const { status, turn: latest } = await app.result('chat');
    if (latest === turn && status === 'completed') return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

describe('a queued turn', () => {
  test('is executed by a worker after the one before, in the order of the queue', async ({ db }) => {
    const app = durable(saying(), { db });
    await app.start('chat', { log: ['1'] }, { turn: 't-1' });
    await app.start('chat', { log: ['2'] }, enqueue('t-2'));
    await app.start('chat', { log: ['3'] }, enqueue('t-3'));
    await app.start('chat', { log: ['2'] }, enqueue('t-2'));
    expect(statuses(await app.turns('chat'))).toEqual({ 't-1': 'created', 't-2': 'queued', 't-3': 'queued' });
    const leave = working(app);
    await untilEnded(app, 't-3');
    await leave();
    expect((await app.values('chat'))?.log).toEqual(['1', 'said 1', '2', 'said 2', '3', 'said 3']);
    expect(statuses(await app.turns('chat'))).toEqual({
      't-1': 'completed',
      't-2': 'completed',
      't-3': 'completed',
    });
  });

  test('follows a turn that failed, and one that was cancelled', async ({ db }) => {
    const app = durable(
      saying((text) => {
        if (text === 'bad') throw new Error('No.');
      }),
      { db },
    );
    await app.start('chat', { log: ['bad'] }, { turn: 't-1' });
    await app.start('chat', { log: ['2'] }, enqueue('t-2'));
    await app.start('chat', { log: ['3'] }, enqueue('t-3'));
    expect(await app.run('chat', undefined, { throwOnFailure: false })).toMatchObject({
      status: 'failed',
      turn: 't-1',
    });
    await app.cancel('chat', { by: ada });
    expect(await app.run('chat')).toMatchObject({ status: 'completed', turn: 't-3' });
    expect(statuses(await app.turns('chat'))).toEqual({
      't-1': 'failed',
      't-2': 'cancelled',
      't-3': 'completed',
    });
  });

  test('begins at once where the run has ended, and is the first of a new run', async ({ db }) => {
    const app = durable(saying(), { db });
    await app.start('chat', { log: ['1'] }, enqueue('t-1'));
    await app.run('chat');
    await app.start('chat', { log: ['2'] }, enqueue('t-2'));
    expect(statuses(await app.turns('chat'))).toEqual({ 't-1': 'completed', 't-2': 'created' });
  });

  test('is refused where it could not begin, and nothing is written', async ({ db }) => {
    const app = durable(asking(), { db });
    await app.run('chat', { log: ['1'] }, { turn: 't-1' });
    const rows = () => db.prepare<[], { n: number }>('SELECT count(*) AS n FROM queued_turns').get()?.n;
    await expect(app.start('chat', { log: ['2'] }, { multitaskStrategy: 'enqueue' })).rejects.toThrow(
      TypeError,
    );
    const wrong = { turn: 't-2', multitaskStrategy: 'rollback' as never };
    await expect(app.start('chat', { log: ['2'] }, wrong)).rejects.toThrow(RangeError);
    await expect(app.run('chat', { log: ['2'] }, enqueue('t-2') as never)).rejects.toThrow(TypeError);
    await expect(app.start('chat', undefined, enqueue('t-2'))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(rows()).toBe(0);
    await app.start('chat', { log: ['2'] }, enqueue('t-2'));
    await expect(app.run('chat', { log: ['2'] }, { turn: 't-2' })).rejects.toMatchObject({
      code: 'INPUT_NOT_TAKEN',
    });
    db.prepare("UPDATE threads SET status = 'dead_letter' WHERE thread_id = 'chat'").run();
    await expect(app.start('chat', { log: ['3'] }, enqueue('t-3'))).rejects.toMatchObject({
      code: 'INPUT_NOT_TAKEN',
    });
    expect(rows()).toBe(1);
  });

  test('that is not what was recorded is refused, and found by the doctor', async ({ db }) => {
    const app = durable(asking(), { db });
    await app.run('chat', { log: ['1'] }, { turn: 't-1' });
    await app.start('chat', { log: ['2'] }, enqueue('t-2'));
    db.prepare("UPDATE queued_turns SET turn_key = 't-9'").run();
    await expect(app.turns('chat')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    expect(damagedValues(db)).toMatchObject([{ code: 'VALUE_DAMAGED' }]);
  });

  test('is executed once by two workers, however often each process looks', async ({ db, dbPath }) => {
    const said: string[] = [];
    const graph = saying((text) => void said.push(text));
    const other: Database = createDatabase({ dbPath });
    const apps = [durable(graph, { db }), durable(graph, { db: other })] as const;
    await apps[0].start('chat', { log: ['0'] }, { turn: 't-0' });
    const leave = apps.map(working);
    for (let n = 1; n <= 20; n += 1) await apps[n % 2]?.start('chat', { log: [`${n}`] }, enqueue(`t-${n}`));
    await untilEnded(apps[0], 't-20');
    await Promise.all(leave.map((stop) => stop()));
    expect(said).toEqual(Array.from({ length: 21 }, (_, n) => `${n}`));
    other.close();
  });
});

describe('a turn that interrupts', () => {
  test('aborts the one that runs, and begins', async ({ db }) => {
    let isIn = (): void => {};
    const entered = new Promise<void>((resolve) => {
      isIn = resolve;
    });
    const app = durable(
      saying((text) => {
        if (text !== '1') return undefined;
        isIn();
        return new Promise(() => {});
      }),
      { db },
    );
    await app.start('chat', { log: ['1'] }, { turn: 't-1' });
    const leave = working(app);
    await entered;
    await app.start('chat', { log: ['2'] }, { turn: 't-2', multitaskStrategy: 'interrupt', by: ada });
    await untilEnded(app, 't-2');
    await leave();
    expect((await app.values('chat'))?.log).toEqual(['1', '2', 'said 2']);
    expect(statuses(await app.turns('chat'))).toEqual({ 't-1': 'cancelled', 't-2': 'completed' });
  });
});

describe('a stream', () => {
  const told = (events: readonly StreamEvent[]) =>
    events.map((event) =>
      event.mode === 'updates'
        ? JSON.stringify(event.data)
        : 'turn' in event
          ? `${event.mode} ${event.turn}`
          : event.mode,
    );

  test('of one turn has its events alone, also before it begins and after others', async ({ db }) => {
    const app = durable(saying(), { db });
    await app.start('chat', { log: ['1'] }, { turn: 't-1' });
    await app.start('chat', { log: ['2'] }, enqueue('t-2'));
    const second = listOf(app.stream('chat', null, { turn: 't-2' }));
    await app.run('chat');
    await app.run('chat');
    expect(told(await second)).toEqual(['{"say":{"log":["said 2"]}}', 'end t-2']);
    const first = await listOf(app.stream('chat', null, { turn: 't-1' }));
    expect(told(first)).toEqual(['{"say":{"log":["said 1"]}}', 'end t-1']);
    const after = { turn: 't-1', after: (first[0] as { readonly seq: number }).seq };
    expect(told(await listOf(app.stream('chat', null, after)))).toEqual(['end t-1']);
    const [one, two] = await app.turns('chat');
    const last = (await listOf(app.stream('chat', null))).map((event) => ('seq' in event ? event.seq : 0));
    expect([one?.afterSeq, one?.lastSeq, two?.afterSeq, two?.lastSeq]).toEqual([
      1,
      last[1],
      Number(last[1]) + 1,
      last[3],
    ]);
  });

  test('goes on over turns, and says where each begins', async ({ db }) => {
    const app = durable(saying(), { db });
    const stop = new AbortController();
    await app.create('chat');
    const reader = app.stream('chat', null, { overTurns: true, signal: stop.signal });
    const heard: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of reader) {
        heard.push(event);
        if (event.mode === 'end' && event.turn === 't-2') stop.abort();
      }
    })();
    await app.run('chat', { log: ['1'] }, { turn: 't-1' });
    await app.run('chat', { log: ['2'] }, { turn: 't-2' });
    await reading;
    expect(told(heard)).toEqual([
      ...['turn t-1', '{"say":{"log":["said 1"]}}', 'end t-1'],
      ...['turn t-2', '{"say":{"log":["said 2"]}}', 'end t-2'],
    ]);
    const after = (heard[2] as { readonly seq: number }).seq;
    const rest = app.stream('chat', null, { overTurns: true, after });
    expect((await rest.next()).value).toEqual(heard[3]);
    await rest.return();
    const plain = await listOf(app.stream('chat', null));
    expect(plain.map(({ mode }) => mode)).toEqual(['updates', 'end', 'updates', 'end']);
  });

  test('ends where its turn was cancelled before it began, or the run is deleted', async ({ db }) => {
    const app = durable(asking(), { db });
    await app.run('chat', { log: ['1'] }, { turn: 't-1' });
    await app.start('chat', { log: ['2'] }, enqueue('t-2'));
    const waiting = listOf(app.stream('chat', null, { turn: 't-2' }));
    await app.cancel('chat', { turn: 't-2', by: ada });
    expect(await waiting).toEqual([]);
    const over = listOf(app.stream('chat', null, { overTurns: true }));
    await app.cancel('chat', { by: ada });
    await app.delete('chat', { by: ada });
    expect((await over).at(-1)).toMatchObject({ mode: 'end', status: 'cancelled', turn: 't-1' });
    await expect(app.stream('x', { log: [] }, { overTurns: true }).next()).rejects.toThrow(TypeError);
  });
});

describe('a run', () => {
  test('that one app has made belongs to the app that gives it its first input', async ({ db }) => {
    const made = durable(saying(), { db, name: 'made' });
    const given = durable(saying(), { db, name: 'given' });
    await made.create('chat');
    await given.start('chat', { log: ['1'] }, { turn: 't-1' });
    expect((await made.runDue()).driven).toEqual([]);
    const leave = working(given);
    await untilEnded(given, 't-1');
    await leave();
  });
});
