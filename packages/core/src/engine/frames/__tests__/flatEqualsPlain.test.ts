import { randomUUID } from 'node:crypto';
import {
  Command,
  INTERRUPT,
  type Interrupt,
  interrupt,
  isInterrupted,
  MemorySaver,
} from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { runByLangGraph } from '../../../../test/support/runByLangGraph.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { buildProgram, inputOf, type World } from '../../../orchestration/__tests__/buildProgram.ts';
import { SqliteSaver } from '../../saver/SqliteSaver.ts';
import { WindowedSaver } from '../../saver/WindowedSaver.ts';
import { runGraphIteratively } from '../flatIterativeAdapter.ts';
import { type Program, programs } from './randomProgram.ts';

/** Cases; `DEVS_FLAT_SEED=42` repeats those of a failure. */
const CASES = howMany('DEVS_FLAT_CASES', 15);
const SEED = process.env['DEVS_FLAT_SEED'];
/** Few cases of another seed may lack a feature. */
const DRAWS_THE_SAME = SEED === undefined && process.env['DEVS_SEED'] === undefined;

const STORES = {
  memory: () => new MemorySaver(),
  'state file': (db: Database) => new SqliteSaver(db),
  'windowed state file': (db: Database) => new WindowedSaver(new SqliteSaver(db), { size: 1, pruneAbove: 2 }),
} as const satisfies Record<string, (db: Database) => BaseCheckpointSaver>;

/** How the flat run is disturbed. */
interface Disturbance {
  readonly store: keyof typeof STORES;
  /** Super-steps after which the run is aborted; each goes on with graphs compiled anew. */
  readonly stops: readonly number[];
  /** Whether a human answers all open questions at once. */
  readonly answersAll: boolean;
}

const disturbances: fc.Arbitrary<Disturbance> = fc.record({
  store: fc.constantFrom('memory', 'state file', 'windowed state file'),
  stops: fc.array(fc.nat(12), { maxLength: 2 }),
  answersAll: fc.boolean(),
});

const MAX_VISITS = 14;
const answerTo = (name: string): string => `answer to ${name}`;
const aWorld = (ask: World['ask']): World => ({ ask, failed: new Set(), seen: new Set() });

/** Plain recursion; `null` for a program of too many nodes: small ones find the same faults in less time. */
async function plainly(program: Program) {
  let visits = 0;
  const onVisit = (): void => {
    visits += 1;
    if (visits > MAX_VISITS) throw new Error('too large');
  };
  const graph = buildProgram(program, { ...aWorld(answerTo), onVisit });
  const invoke = () => graph.invoke(inputOf(program), { recursionLimit: 1000 });
  return runByLangGraph(invoke).catch((error: unknown) => {
    if (visits > MAX_VISITS) return null;
    throw error;
  });
}

async function flatly(
  program: Program,
  { saver, stops, answersAll }: Disturbance & { readonly saver: BaseCheckpointSaver },
) {
  const world = aWorld((name) => interrupt<{ name: string }, string>({ name }));
  const threadId = randomUUID();
  const left = [...stops];
  let call: Parameters<typeof runGraphIteratively>[1] = inputOf(program);
  for (;;) {
    const { window, signal } = stopAfter(left.shift());
    const run = runGraphIteratively(buildProgram(program, world), call as object, {
      ...{ checkpointer: saver, threadId, signal, window },
    });
    const result = await run.catch((error: unknown) => {
      if (error !== STOP) throw error;
      world.seen.add('stop');
      return STOP;
    });
    if (result === STOP) {
      call = call instanceof Command ? null : call;
      continue;
    }
    if (!isInterrupted<{ name: string }>(result)) return { result, seen: world.seen };
    call = new Command({ resume: answersTo(result[INTERRUPT], answersAll) });
  }
}

const STOP = new Error('stop');

function stopAfter(turns = Number.POSITIVE_INFINITY) {
  const controller = new AbortController();
  let left = turns;
  const push = (): void => {
    if (left === 0) controller.abort(STOP);
    left -= 1;
  };
  return { window: { push }, signal: controller.signal };
}

function answersTo(interrupts: readonly Interrupt<{ name: string }>[], all: boolean): Record<string, string> {
  const answered = all ? interrupts : interrupts.slice(-1);
  return Object.fromEntries(answered.map(({ id, value }) => [id, answerTo(value?.name ?? '')]));
}

/** What a property that finds faults must have met. */
const FEATURES = [
  ...['route', 'send', 'command', 'loop', 'join', 'defer', 'graph as a node', 'retry', 'ask', 'stop'],
  ...['one child', 'several children', 'level 1', 'level 2', 'level 3'],
];

describe('runGraphIteratively', () => {
  test(`gives the final state of plain recursion for ${CASES} random programs`, {
    timeout: 120_000 + CASES * 500,
  }, async ({ dbPath }) => {
    const db = createDatabase({ dbPath, synchronous: 'normal' });
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(programs, disturbances, async (program, disturbance) => {
        const plain = await plainly(program);
        fc.pre(plain !== null);
        const flat = await flatly(program, { ...disturbance, saver: STORES[disturbance.store](db) });
        expect(flat.result).toEqual(plain);
        flat.seen.forEach(seen.add, seen);
      }),
      { numRuns: CASES, ...(SEED !== undefined && { seed: Number(SEED) }) },
    );
    db.close();
    if (CASES >= 200 || DRAWS_THE_SAME) expect([...seen]).toEqual(expect.arrayContaining(FEATURES));
  });
});
