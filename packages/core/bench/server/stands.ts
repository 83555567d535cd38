import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver as OfficialSaver } from '@langchain/langgraph-checkpoint-sqlite';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

/** Who keeps the runs, each with `synchronous = FULL`. */
export const STANDS = ['devs', 'official'] as const;
export type StandName = (typeof STANDS)[number];

/** Short runs over one file: three nodes, one call that answers 1 KB. */
export interface Stand {
  readonly db: Database;
  run(id: string): Promise<void>;
  /** Starts a run that waits before its last node. */
  ask(id: string): Promise<void>;
  /** Answers it, and goes on to its end. */
  answer(id: string): Promise<void>;
  close(): void;
}

const State = Annotation.Root({
  id: Annotation<string>(),
  visits: Annotation<number>(),
  answer: Annotation<string>(),
  asks: Annotation<boolean>(),
});

const WORDS =
  'the answer of a model is about as long as a short paragraph and says something else each time'.split(' ');
const ANSWER_BYTES = 1024;

/** No two runs have the same: what they hold is not shared between them. */
function answerOf(): string {
  let text = '';
  while (text.length < ANSWER_BYTES) text += `${WORDS[randomInt(WORDS.length)]} `;
  return text;
}

const COMPLETE = 3;

export interface StandOptions {
  /** Milliseconds that the call takes; 0 for one that answers at once. */
  readonly callMs: number;
  /** Called as the node behind the question goes on. */
  readonly effect?: (id: string) => void;
}

function builderOf(call: () => Promise<string>, { effect }: StandOptions) {
  return new StateGraph(State)
    .addNode('read', ({ visits }) => ({ visits: visits + 1 }))
    .addNode('ask', async ({ visits }) => ({ visits: visits + 1, answer: await call() }))
    .addNode('write', ({ id, visits, asks }) => {
      if (asks) {
        interrupt('May it be written?');
        effect?.(id);
      }
      return { visits: visits + 1 };
    })
    .addEdge(START, 'read')
    .addEdge('read', 'ask')
    .addEdge('ask', 'write')
    .addEdge('write', END);
}

/** @param file - Made where it is missing. */
export function openStand(name: StandName, file: string, options: StandOptions): Stand {
  const call = async (): Promise<string> => {
    if (options.callMs > 0) await sleep(options.callMs);
    return answerOf();
  };
  return name === 'devs' ? devsStand(file, call, options) : officialStand(file, call, options);
}

const inputOf = (id: string, asks: boolean) => ({ id, visits: 0, asks });

function devsStand(file: string, call: () => Promise<string>, options: StandOptions): Stand {
  const db = createDatabase({ dbPath: file });
  const app = durable(
    builderOf(() => step('model', call), options),
    { db },
  );
  const gates = new Map<string, Parameters<typeof app.decide>[0]>();
  return {
    db,
    run: async (id) => assertComplete(id, (await app.run(id, inputOf(id, false))).values),
    ask: async (id) => {
      const [gate] = (await app.run(id, inputOf(id, true))).gates;
      if (gate === undefined) throw new Error(`${id} asked nothing.`);
      gates.set(id, gate);
    },
    answer: async (id) => {
      const gate = gates.get(id);
      if (gate === undefined) throw new Error(`${id} waits for nothing.`);
      gates.delete(id);
      await app.decide(gate, { value: 'yes', by: { kind: 'human', id: 'ada' } } as never);
      assertComplete(id, (await app.run(id)).values);
    },
    close: () => {
      app.close();
      db.close();
    },
  };
}

function officialStand(file: string, call: () => Promise<string>, options: StandOptions): Stand {
  const db = new BetterSqlite3(file);
  const saver = new OfficialSaver(db);
  // Its tables are made on first use; that and the switch to WAL are not what is timed.
  (saver as unknown as { setup(): void }).setup();
  db.pragma('synchronous = FULL');
  const graph = builderOf(call, options).compile({ checkpointer: saver });
  const config = (id: string) => ({ configurable: { thread_id: id }, durability: 'sync' }) as const;
  return {
    db,
    run: async (id) => assertComplete(id, await graph.invoke(inputOf(id, false), config(id))),
    ask: async (id) => {
      await graph.invoke(inputOf(id, true), config(id));
    },
    answer: async (id) => assertComplete(id, await graph.invoke(new Command({ resume: 'yes' }), config(id))),
    close: () => db.close(),
  };
}

function assertComplete(id: string, values: unknown): void {
  const visits = (values as { readonly visits?: number } | null)?.visits;
  if (visits !== COMPLETE) throw new Error(`${id} ended after ${visits} of ${COMPLETE} nodes.`);
}
