import { setMaxListeners } from 'node:events';
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { type Death, DyingFile } from '../../../../test/support/DyingFile.ts';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { longer } from '../../../../test/support/longer.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { durable } from '../../app/durable.ts';
import { step } from '../../node/step.ts';
import { child } from '../../node/waitFor.ts';

const CASES = howMany('DEVS_TREE_CASES', 6);

/** What a run does: calls, runs below it one after the other, and runs below it side by side. */
interface Tree {
  readonly calls: number;
  readonly row: readonly Tree[];
  readonly beside: readonly Tree[];
  readonly fails: boolean;
}

const { tree: trees } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    calls: fc.nat(2),
    row: fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie('tree'), { maxLength: 2 })),
    beside: fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie('tree'), { maxLength: 2 })),
    fails: fc.integer({ min: 0, max: 5 }).map((one) => one === 0),
  }),
}));

const State = Annotation.Root({
  id: Annotation<string>(),
  tree: Annotation<Tree>(),
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

type Below = (id: string, tree: Tree) => Promise<readonly string[]>;

/** LangGraph hangs a listener of every graph below on the signals of the highest, and Node.js warns of eleven. */
function allowListeners({ signal, configurable }: LangGraphRunnableConfig): void {
  const signals: unknown[] = Object.values(configurable?.['__pregel_abort_signals'] ?? {});
  for (const each of [signal, ...signals]) if (each instanceof AbortSignal) setMaxListeners(0, each);
}

/** The graph of every run of a tree. */
function graphOf(below: Below, effect: (what: string) => void) {
  const work = async (
    { id, tree: { calls, row, beside, fails } }: typeof State.State,
    config: LangGraphRunnableConfig,
  ) => {
    allowListeners(config);
    const log: string[] = [];
    for (let call = 0; call < calls; call += 1)
      await step(`call ${call}`, () => {
        effect(`${id} ${call}`);
      });
    for (const [at, tree] of row.entries()) log.push(...(await below(`${id}-r${at}`, tree)));
    log.push(...(await Promise.all(beside.map((tree, at) => below(`${id}-b${at}`, tree)))).flat());
    if (fails) throw new Error(`${id} fails`);
    return { log: [`${id}: ${log.length}`, ...log] };
  };
  return new StateGraph(State).addNode('work', work).addEdge(START, 'work').addEdge('work', END);
}

/** By LangGraph alone, each graph called as it is. */
async function plainly(id: string, tree: Tree, effect: (what: string) => void): Promise<readonly string[]> {
  const below: Below = async (one, sub) => {
    try {
      return (await graph.invoke({ id: one, tree: sub })).log;
    } catch (error) {
      return [`failed: ${(error as Error).message}`];
    }
  };
  const graph = graphOf(below, effect).compile();
  return below(id, tree);
}

describe('trees of runs that die anywhere', () => {
  test('end as by LangGraph alone, and do nothing twice', { timeout: longer(600_000, CASES / 100) }, async ({
    db,
    dbPath,
  }) => {
    let cases = 0;
    const live = async (id: string, tree: Tree, effects: string[], death: Death | null) => {
      const own = createDatabase({ dbPath });
      own.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
      const file = new DyingFile(own, death);
      const below: Below = async (one, sub) => {
        const { status, reason, values } = await child(app, one, { id: one, tree: sub });
        return status === 'failed' ? [`failed: ${reason}`] : (values?.log ?? []);
      };
      const app = durable(
        graphOf(below, (what) => effects.push(what)),
        { db: own },
      );
      try {
        const { status, reason, values } = await app.run(id, { id, tree }, { throwOnFailure: false });
        return {
          log: status === 'failed' ? [`failed: ${reason}`] : (values?.log ?? []),
          writes: file.writes,
        };
      } finally {
        own.close();
        db.prepare('UPDATE threads SET lease_owner = NULL').run(); // what its death does for a real process
      }
    };
    const property = fc.asyncProperty(
      trees,
      fc.array(fc.tuple(fc.nat(200), fc.constantFrom('before', 'after')), { maxLength: 3 }),
      async (tree, deaths) => {
        cases += 1;
        const id = `run${cases}`;
        const effects: string[] = [];
        for (const [write, side] of deaths)
          await live(id, tree, effects, { write: write + 1, side: side as Death['side'] }).catch(() => null);
        const { log } = await live(id, tree, effects, null);
        const expected: string[] = [];
        expect(log).toEqual(await plainly(id, tree, (what) => expected.push(what)));
        expect([...new Set(effects)].sort()).toEqual(expected.sort());
        const runs = db
          .prepare('SELECT thread_id, status FROM threads WHERE thread_id LIKE ?')
          .raw()
          .all(`${id}%`);
        expect(runs.every((row) => ['completed', 'failed'].includes((row as string[])[1] ?? ''))).toBe(true);
      },
    );
    await fc.assert(property, { numRuns: CASES });
  });
});
