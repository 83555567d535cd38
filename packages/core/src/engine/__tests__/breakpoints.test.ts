import { Command, INTERRUPT, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { howMany } from '../../../test/support/howMany.ts';
import { interceptStatements } from '../../../test/support/interceptStatements.ts';
import { only } from '../../../test/support/only.ts';
import { tried } from '../../../test/support/tried.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import type { DurableApp } from '../app/DurableApp.ts';
import { durable } from '../app/durable.ts';
import type { Gate } from '../gates/Gate.ts';
import { ada, OwnState, says, twoSteps } from './ownGraph.ts';
import { type AnyCompiled, type StoppingGraph, stoppingGraphs } from './stoppingGraphs.ts';

/** What had run and what the state was, each time the run stood still, and at its end. */
interface Stand {
  readonly ran: readonly string[];
  readonly values: object;
}

/** A death at each so manieth write of a run. */
const EVERY = howMany('DEVS_STOPS_EVERY', 97);

const INPUT = { log: ['input'] };
const names = Object.keys(stoppingGraphs(() => {})) as StoppingGraph[];

async function byLangGraph(name: StoppingGraph): Promise<readonly Stand[]> {
  const ran: string[] = [];
  const graph: AnyCompiled = stoppingGraphs((node) => ran.push(node))[name]();
  graph.checkpointer = new MemorySaver();
  const config = { configurable: { thread_id: 'plain' } };
  const stands: Stand[] = [];
  for (let input: unknown = INPUT; ; ) {
    const result = (await graph.invoke(input, config)) as {
      readonly [INTERRUPT]?: readonly { id: string }[];
    };
    const { values, next } = await graph.getState(config);
    stands.push({ ran: [...ran], values });
    if (next.length === 0) return stands;
    const asked = result[INTERRUPT] ?? [];
    input =
      asked.length > 0
        ? new Command({ resume: Object.fromEntries(asked.map(({ id }) => [id, 'yes'])) })
        : null;
  }
}

type App = DurableApp<unknown, object, object>;
const appOf = (name: StoppingGraph, db: Database, ran: (node: string) => void): App =>
  durable(stoppingGraphs(ran)[name]() as never, { db }) as unknown as App;

async function answer(app: App, gates: readonly Gate[]): Promise<void> {
  for (const gate of gates) await app.decide(gate, { value: 'yes', by: ada });
}

describe('a graph that was compiled to stop', () => {
  test.for(names)('%s: stands where it does by LangGraph alone, and is asked about', async (name, { db }) => {
    const ran: string[] = [];
    db.pragma('synchronous = OFF');
    const app = appOf(name, db, (node) => ran.push(node));
    const stands: Stand[] = [];
    for (let input: object | undefined = INPUT; ; input = undefined) {
      const { status, values, gates } = await app.run('run', input);
      stands.push({ ran: [...ran], values: values ?? {} });
      if (status === 'completed') break;
      expect(await app.run('run')).toMatchObject({ status: 'waiting', gates });
      expect(ran).toEqual(stands.at(-1)?.ran); // nobody has answered yet
      await answer(app, gates);
    }
    expect(stands).toStrictEqual(await byLangGraph(name));
  });
});

/** A subgraph that stops before its last node, inside a node of a graph. */
function nested(inner: () => void = () => {}) {
  const last = () => {
    inner();
    return { log: ['y'] };
  };
  const sub = twoSteps(says('x'), last).compile({ interruptBefore: ['second'] });
  return new StateGraph(OwnState).addNode('sub', sub).addEdge(START, 'sub');
}

describe('the gate of a breakpoint', () => {
  test('shows where the run stands, with the values there', async ({ db }) => {
    const outer = durable(twoSteps().compile({ interruptBefore: ['second'] }), { db });
    const { gates } = await outer.run('outer', {});
    expect(only(gates)).toMatchObject({
      kind: 'interrupt',
      message:
        'The graph stopped before "second". Answer with any value to continue, or `false` to end the run.',
      artifact: {
        breakpoint: { graph: [], when: 'before', nodes: ['second'], next: ['second'] },
        values: { log: ['first'] },
      },
    });
    const inner = durable(nested(), { db });
    const { gates: inside } = await inner.run('inner', { log: ['input'] });
    expect(only(inside)).toMatchObject({
      kind: 'interrupt',
      message:
        'The graph stopped before "second" in "sub". Answer with any value to continue, or `false` to end the run.',
      artifact: {
        breakpoint: { graph: ['sub'], when: 'before', nodes: ['second'], next: ['second'] },
        values: { log: ['input', 'x'] },
      },
    });
  });

  test('shows in plain words what is no JSON, and no more than can be read', async ({ db }) => {
    const answer = new Map([['at', new Date(0)]]);
    const builder = twoSteps(() => ({ answer, log: ['x'.repeat(70_000)] }));
    const app = durable(builder.compile({ interruptAfter: ['first'] }), { db });
    const { gates, values } = await app.run('run', {});
    expect(only(gates).artifact).toMatchObject({
      values: { answer: [['at', '1970-01-01T00:00:00.000Z']], log: '(70004 characters)' },
    });
    expect(values?.answer).toEqual(answer);
  });

  test('takes any value, and ends the run with false', async ({ db }) => {
    for (const value of [null, 0, '', true, { approved: false }]) {
      const ran: string[] = [];
      const app = durable(
        nested(() => ran.push('y')),
        { db },
      );
      const id = `goes on with ${JSON.stringify(value)}`;
      const { gates } = await app.run(id, {});
      await expect(app.decide(only(gates), { approved: true, by: ada })).rejects.toMatchObject({
        code: 'INVALID_ANSWER',
      });
      await app.decide(only(gates), { value, by: ada });
      expect(await app.run(id)).toMatchObject({ status: 'completed' });
      expect(ran).toEqual(['y']);
    }
    const ran: string[] = [];
    const last = () => {
      ran.push('y');
      return { log: ['y'] };
    };
    const graphs = [
      nested(() => ran.push('y')),
      twoSteps(says('x'), last).compile({ interruptBefore: ['second'] }),
    ];
    for (const [at, graph] of graphs.entries()) {
      const app = durable(graph as ReturnType<typeof nested>, { db });
      const { gates } = await app.run(`ends ${at}`, {});
      await app.decide(only(gates), { value: false, by: ada });
      const ended = { status: 'cancelled', reason: 'rejected: the breakpoint before "second"' };
      expect(await app.run(`ends ${at}`)).toMatchObject(ended);
    }
    expect(ran).toEqual([]);
  });

  test('opens once the question beside it, in the same graph, is answered: LangGraph alone runs past it', async ({
    db,
  }) => {
    const ran: string[] = [];
    const last = () => {
      ran.push('y');
      return { log: ['y'] };
    };
    const middle = new StateGraph(OwnState)
      .addNode('sub', twoSteps(says('x'), last).compile({ interruptBefore: ['second'] }))
      .addNode('ask', () => ({ log: [String(interrupt('well?'))] }))
      .addEdge(START, 'sub')
      .addEdge(START, 'ask');
    const build = () => new StateGraph(OwnState).addNode('middle', middle.compile()).addEdge(START, 'middle');
    const plain = build().compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: 'plain' } };
    await plain.invoke({}, config);
    await plain.invoke(new Command({ resume: 'yes' }), config);
    expect(ran.splice(0)).toEqual(['y']);

    const app = durable(build(), { db });
    const first = await app.run('run', {});
    expect(only(first.gates).artifact).toBe('well?');
    await answer(app as unknown as App, first.gates);
    const second = await app.run('run');
    expect(only(second.gates)).toMatchObject({ artifact: { breakpoint: { graph: ['middle', 'sub'] } } });
    expect(ran).toEqual([]);
    await answer(app as unknown as App, second.gates);
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
    expect(ran).toEqual(['y']);
  });

  test('is asked as long as nobody has answered, whatever the graph is compiled with by now', async ({
    db,
  }) => {
    const { gates } = await durable(twoSteps().compile({ interruptBefore: ['second'] }), { db }).run(
      'run',
      {},
    );
    const without = durable(twoSteps(), { db });
    expect(await without.run('run')).toMatchObject({ status: 'waiting', gates });
    await without.decide(only(gates), { value: null, by: ada });
    expect(await without.run('run')).toMatchObject({ status: 'completed' });
  });

  test('is not asked of a run that was past it before it was put there', async ({ db }) => {
    const asking = twoSteps(undefined, () => ({ answer: interrupt('well?') }));
    const { gates } = await durable(asking, { db }).run('run', {});
    const app = durable(asking.compile({ interruptBefore: ['second'], interruptAfter: ['first'] }), { db });
    await app.decide(only(gates), { value: 'yes', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { answer: 'yes' } });
  });
});

/** Every node once, whatever a death made run again. */
const unique = (ran: readonly string[]) => [...new Set(ran)].sort();

/** The machine does not die with the process: what was written counts, whether or not it has reached the disk. */
function opened(dbPath: string): Database {
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF');
  return db;
}

/** A connection whose process is gone after so many writes: nothing that comes later reaches the file. */
function dying(db: Database, writes: number): () => boolean {
  let left = writes;
  interceptStatements(db, (work, statement) => {
    if (!statement.reader) left -= 1;
    if (left < 0) throw new Error('The process is gone.');
    return work();
  });
  return () => left < 0;
}

/** Where a run stands whose process dies after so many writes, and which another one goes on with. */
async function standsWithDeath(name: StoppingGraph, dbPath: string, writes: number) {
  const id = `run-${writes}`;
  const ran: string[] = [];
  const stands: Stand[] = [];
  let db = opened(dbPath);
  let isGone = dying(db, writes);
  let hasDied = false;
  let app = appOf(name, db, (node) => ran.push(node));
  let asked = new Set<string>(); // at the last stand
  for (let status = ''; status !== 'completed'; ) {
    try {
      const open = await app.gates(id);
      await answer(
        app,
        open.filter(({ sessionId }) => asked.has(sessionId)),
      );
      const result = await app.run(id, INPUT);
      if (isGone()) throw new Error('Nobody hears of it any more.');
      if (result.status !== 'waiting' && result.status !== 'completed') throw new Error(`${result.reason}`);
      stands.push({ ran: unique(ran), values: result.values ?? {} });
      asked = new Set(result.gates.map(({ sessionId }) => sessionId));
      status = result.status;
    } catch (thrown) {
      if (!isGone()) throw thrown;
      isGone = () => false;
      hasDied = true;
      db.close();
      db = opened(dbPath);
      db.prepare('UPDATE threads SET lease_owner = NULL').run(); // this process still lives
      app = appOf(name, db, (node) => ran.push(node));
    }
  }
  db.close();
  return { stands, hasDied };
}

describe('a run that stands at a breakpoint, killed at any write', () => {
  test.for([
    'before a node',
    'after one of two branches, and before they join',
    'in a subgraph, before and after, and around it',
    'in a subgraph, after its last node',
    'in a subgraph that is kept',
    'in a subgraph that a function calls, before',
    'in a subgraph that a function calls, after',
    'in a subgraph of a subgraph',
    'after a node in a subgraph, beside a question',
  ] as const)(
    '%s: never goes on before it was answered',
    { timeout: 300_000 },
    async (name, { dbPath, task }) => {
      let deaths = 0;
      const plain = (await byLangGraph(name)).map(({ ran, values }) => ({ ran: unique(ran), values }));
      for (let writes = 1, hasDied = true; hasDied; writes += EVERY) {
        const killed = await standsWithDeath(name, dbPath, writes);
        expect({ writes, stands: killed.stands }).toStrictEqual({ writes, stands: plain });
        hasDied = killed.hasDied;
        deaths += hasDied ? 1 : 0;
      }
      tried(task, { ways: deaths });
    },
  );
});
