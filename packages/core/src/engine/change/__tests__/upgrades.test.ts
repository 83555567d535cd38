import fc from 'fast-check';
import { expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { isDevsError } from '../../../errors/DevsError.ts';
import { everyTable } from '../../../orchestration/__tests__/everyTable.ts';
import { ada } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import {
  buildPairGraph,
  byLabel,
  ENOUGH,
  endOfLangGraph,
  type GraphPair,
  graphPairs,
  mayBeRefused,
  type PairGraph,
  standsOnChange,
} from './graphPairs.ts';

const PAIRS = howMany('DEVS_UPGRADE_PAIRS', 25);

function program(graph: PairGraph, file: Parameters<typeof durable>[1], calls: string[], declared?: object) {
  const gated = graph.nodes.filter(({ gate }) => gate).map(({ name }) => [name, () => 'go?'] as const);
  const builder = buildPairGraph(graph, { asks: false, onCall: (label) => calls.push(label) });
  return durable(
    builder as never,
    {
      ...file,
      version: graph.version,
      gates: Object.fromEntries(gated),
      ...(declared && { graphChanges: declared }),
    } as never,
  );
}

type Program = ReturnType<typeof program>;

/** Answers everything that is asked, so many times. */
async function answer(app: Program, rounds: number): Promise<string> {
  let { status, gates } = await app.run('run');
  for (let round = 0; round < rounds && status === 'waiting'; round += 1) {
    for (const gate of gates)
      await app.decide(
        gate,
        gate.kind === 'interrupt' ? { value: '!', by: ada } : { approved: true, by: ada },
      );
    ({ status, gates } = await app.run('run'));
  }
  return status;
}

/** What became of the pair: it ended before its graph changed, or was unchanged, taken or refused. */
async function upgraded(pair: GraphPair): Promise<string> {
  const alone = await endOfLangGraph(pair);
  if (alone === null) return 'ended';
  const isRefused = standsOnChange(pair, alone);
  const db = createDatabase({ dbPath: ':memory:' });
  try {
    const calls: string[] = [];
    const before = program(pair.before, { db }, calls);
    await before.run('run', { log: ['begun'] } as never);
    await answer(before, pair.rounds);
    const after = program(pair.after, { db }, calls, pair.declared);

    const rows = everyTable(db);
    const made = calls.length;
    const { unchanged, taken, refused, others } = await after.checkUpgrade();
    expect([unchanged, taken.length, refused.length, others.length].reduce((a, b) => a + b)).toBe(1);
    expect(everyTable(db)).toBe(rows);
    if (!mayBeRefused(pair, alone)) expect(refused.length + others.length).toBe(isRefused ? 1 : 0);
    if (refused.length + others.length > 0) {
      const [error] = await Promise.allSettled([after.run('run')]);
      expect(error.status === 'rejected' && isDevsError(error.reason, 'GRAPH_CHANGED')).toBe(true);
      expect(everyTable(db)).toBe(rows);
      expect(calls.length).toBe(made);
      return refused[0]?.reason ?? 'other_graph';
    }
    expect(await answer(after, ENOUGH)).toBe('completed');
    expect(byLabel((await after.values('run')) as never, pair.after)).toEqual(alone.values);
    expect(isRefused).toBe(false);
    return taken.length > 0 ? 'taken' : 'unchanged';
  } finally {
    db.close();
  }
}

test(
  'a check before a deploy and the drive after it agree, and what is taken ends as with LangGraph alone',
  async () => {
    const found = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(graphPairs, async (pair) => {
        const is = await upgraded(pair);
        found.set(is, (found.get(is) ?? 0) + 1);
        fc.pre(is !== 'ended');
      }),
      { numRuns: PAIRS },
    );
    const refused = [...found].filter(([is]) => !['ended', 'unchanged', 'taken'].includes(is));
    expect(found.get('taken')).toBeGreaterThan(PAIRS / 5);
    expect(refused.reduce((sum, [, times]) => sum + times, 0)).toBeGreaterThan(PAIRS / 5);
  },
  Math.max(60_000, PAIRS * 10_000),
);
