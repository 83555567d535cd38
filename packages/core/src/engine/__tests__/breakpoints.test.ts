import { Command, INTERRUPT, MemorySaver } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../db/createDatabase.ts';
import { test } from '../../../test/support/fixtures.ts';
import { howMany } from '../../../test/support/howMany.ts';
import { interceptStatements } from '../../../test/support/interceptStatements.ts';
import type { DurableApp } from '../DurableApp.ts';
import { durable } from '../durable.ts';
import type { Gate } from '../Gate.ts';
import { ada } from './ownGraph.ts';
import { type AnyCompiled, type StoppingGraph, stoppingGraphs } from './stoppingGraphs.ts';

/** What had run and what the state was, each time the run stood still, and at its end. */
interface Stand {
  readonly ran: readonly string[];
  readonly values: object;
}

/** Of the writes of a run, those at which it is killed: each one where it is 1. */
const STRIDE = howMany('DEVS_STOP_STRIDE', 1);
const FIRST = 1;

const INPUT = { log: ['input'] };
const names = Object.keys(stoppingGraphs(() => {})) as StoppingGraph[];

async function byLangGraph(name: StoppingGraph): Promise<readonly Stand[]> {
  const ran: string[] = [];
  const graph: AnyCompiled = stoppingGraphs((node) => ran.push(node))[name]();
  graph.checkpointer = new MemorySaver();
  const config = { configurable: { thread_id: 'plain' } };
  const stands: Stand[] = [];
  for (let input: unknown = INPUT; ; ) {
    const result = (await graph.invoke(input, config)) as { readonly [INTERRUPT]?: readonly { id: string }[] };
    const { values, next } = await graph.getState(config);
    stands.push({ ran: [...ran], values });
    if (next.length === 0) return stands;
    const asked = result[INTERRUPT] ?? [];
    input = asked.length > 0 ? new Command({ resume: Object.fromEntries(asked.map(({ id }) => [id, 'yes'])) }) : null;
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
    const app = appOf(name, db, (node) => ran.push(node));
    const stands: Stand[] = [];
    for (let input: object | undefined = INPUT; ; input = undefined) {
      const { status, values, gates } = await app.run('run', input);
      stands.push({ ran: [...ran], values: values ?? {} });
      if (status === 'completed') break;
      expect(await app.run('run')).toMatchObject({ status: 'suspended', gates });
      expect(ran).toEqual(stands.at(-1)?.ran); // nobody has answered yet
      await answer(app, gates);
    }
    expect(stands).toStrictEqual(await byLangGraph(name));
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

describe('a run that stands at a breakpoint, killed at any write', () => {
  const killed: readonly StoppingGraph[] = [
    'before a node',
    'after a node',
    'after one of two branches, and before they join',
    'in a subgraph, before and after, and around it',
    'in a subgraph, after its last node',
    'in a subgraph that is kept',
    'in a subgraph that a function calls, before',
    'in a subgraph that a function calls, after',
    'in a subgraph of a subgraph',
    'after a node in a subgraph, beside a question',
  ];

  test.for(killed)('%s: never goes on before it was answered', { timeout: 120_000 }, async (name, { dbPath }) => {
    const plain = (await byLangGraph(name)).map(({ ran, values }) => ({ ran: unique(ran), values }));
    for (let writes = FIRST; ; writes += STRIDE) {
      const id = `run-${writes}`;
      let db = opened(dbPath);
      let isGone = dying(db, writes);
      let hasDied = false;
      const ran: string[] = [];
      let app = appOf(name, db, (node) => ran.push(node));
      const stands: Stand[] = [];
      let asked: readonly Gate[] = []; // at the last stand
      for (;;) {
        try {
          const open = await app.gates(id);
          await answer(app, asked.filter(({ sessionId }) => open.some((gate) => gate.sessionId === sessionId)));
          const { status, values, gates, error, reason } = await app.run(id, INPUT);
          if (isGone()) throw new Error('gone');
          if (status !== 'suspended' && status !== 'completed') throw new RangeError(`${status} ${reason} ${error?.stack}`);
          const stand = { ran: unique(ran), values: values ?? {} };
          stands.push(stand);
          if (status === 'completed') break;
          asked = gates;
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
      expect({ writes, stands }).toStrictEqual({ writes, stands: plain });
      if (!hasDied) return;
    }
  });
});
