// `pnpm bench:loop-answers [--answers N] [--folder PATH] [--json]`: a node that asks in a loop. Its runs and the time of an answer,
// beside plain LangGraph with SqliteSaver; each answer is given to all in turn. See docs/internals/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  Annotation,
  Command,
  END,
  interrupt as langGraphInterrupt,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { SqliteSaver as OfficialSaver } from '@langchain/langgraph-checkpoint-sqlite';
import BetterSqlite3 from 'better-sqlite3';
import type { Durability } from '../src/config/durability.ts';
import { createDatabase } from '../src/db/createDatabase.ts';
import { durable } from '../src/engine/app/durable.ts';
import type { Gate } from '../src/engine/gates/Gate.ts';
import { interrupt } from '../src/engine/node/interrupt.ts';
import { median, round, table } from './state/figures.ts';

const { values } = parseArgs({
  options: {
    answers: { type: 'string', default: '200' },
    folder: { type: 'string', default: tmpdir() },
    json: { type: 'boolean', default: false },
  },
});
const ANSWERS = Number(values.answers);
/** Answers that are not counted. */
const WARM_UP = Math.min(20, Math.floor(ANSWERS / 4));
const by = { kind: 'human', id: 'ada' } as const;
const State = Annotation.Root({ answers: Annotation<string[]>() });

interface Contender {
  readonly name: string;
  readonly nodeRuns: () => number;
  begin(): Promise<void>;
  answer(value: string): Promise<void>;
  close(): Promise<void>;
}

/** A node that asks as often as there are answers, and how often it has run. */
function loop(ask: typeof interrupt) {
  const counted = { runs: 0 };
  const node = (): typeof State.Update => {
    counted.runs += 1;
    return { answers: Array.from({ length: ANSWERS }, (_, at) => ask(`question ${at}`)) };
  };
  const builder = new StateGraph(State).addNode('ask', node).addEdge(START, 'ask').addEdge('ask', END);
  return { builder, nodeRuns: () => counted.runs };
}

function plain(folder: string, durability: Durability): Contender {
  const { builder, nodeRuns } = loop(langGraphInterrupt);
  const db = new BetterSqlite3(join(folder, `plain-${durability}.sqlite`));
  const graph = builder.compile({ checkpointer: new OfficialSaver(db) });
  const config = { configurable: { thread_id: 'run' }, durability };
  return {
    name: `LangGraph, ${durability}`,
    nodeRuns,
    begin: async () => {
      await graph.invoke({}, config);
      db.pragma('synchronous = FULL'); // its first use has made it NORMAL
    },
    answer: async (resume) => void (await graph.invoke(new Command({ resume }), config)),
    close: async () => void db.close(),
  };
}

function devs(folder: string, durability: Durability, ask: typeof interrupt): Contender {
  const { builder, nodeRuns } = loop(ask);
  const whose = ask === interrupt ? 'own' : "LangGraph's";
  const db = createDatabase({
    dbPath: join(folder, `devs-${durability}-${whose === 'own'}.sqlite`),
    synchronous: 'full',
  });
  const app = durable(builder, { db, durability });
  let gate: Gate | undefined;
  return {
    name: `devs, ${durability}, ${whose} interrupt`,
    nodeRuns,
    begin: async () => {
      [gate] = (await app.run('run', {})).gates;
    },
    answer: async (value) => {
      if (gate === undefined) throw new Error('no question is open');
      await app.decide(gate, { value, by });
      [gate] = (await app.run('run')).gates;
    },
    close: async () => {
      await app.close();
      db.close();
    },
  };
}

const folder = mkdtempSync(join(values.folder, 'devs-loop-answers-'));
const contenders = (['sync', 'async'] as const).flatMap((durability) => [
  plain(folder, durability),
  devs(folder, durability, interrupt),
  devs(folder, durability, langGraphInterrupt),
]);
const times = new Map<Contender, { ms: number; cpuMs: number }[]>(contenders.map((each) => [each, []]));

try {
  for (const contender of contenders) await contender.begin();
  for (let at = 0; at < ANSWERS; at += 1) {
    for (const contender of contenders) await timed(contender, at);
  }
  report();
} finally {
  for (const contender of contenders) await contender.close();
  rmSync(folder, { recursive: true, force: true });
}

async function timed(contender: Contender, at: number): Promise<void> {
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await contender.answer(`answer ${at}`);
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  if (at >= WARM_UP) times.get(contender)?.push({ ms, cpuMs: (user + system) / 1000 });
}

function report(): void {
  const results = contenders.map((contender, at) => {
    const own = times.get(contender) ?? [];
    const base =
      times.get(contenders[at < contenders.length / 2 ? 0 : contenders.length / 2] as Contender) ?? [];
    // Within each answer, so that what disturbs one disturbs all.
    const ratio = (of: 'ms' | 'cpuMs'): number =>
      median(own.map((each, nth) => each[of] / (base[nth]?.[of] ?? Number.NaN)));
    return {
      name: contender.name,
      nodeRuns: contender.nodeRuns(),
      ms: round(median(own.map(({ ms }) => ms))),
      ratio: round(ratio('ms')),
      cpuMs: round(median(own.map(({ cpuMs }) => cpuMs))),
      cpuRatio: round(ratio('cpuMs')),
    };
  });
  if (values.json) {
    console.log(JSON.stringify({ answers: ANSWERS, results }, null, 2));
    return;
  }
  const head = ['', 'node runs', 'ms an answer', "of LangGraph's", 'ms of processor', "of LangGraph's"];
  console.log(`${ANSWERS} answers, synchronous = FULL; medians`);
  console.log(
    table(
      head,
      results.map((row) => Object.values(row)),
    ),
  );
}
