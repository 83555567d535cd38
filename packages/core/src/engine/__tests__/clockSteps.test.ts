import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { afterEach, describe, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { durable } from '../app/durable.ts';
import { step } from '../node/step.ts';
import { SqliteSaver } from '../saver/SqliteSaver.ts';

// LangGraph's checkpoint ids come from the clock. A saver that takes the highest one for the newest goes back with it, and
// what was approved runs a second time.

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});
const STEPS = [
  ['50 ms', 50],
  ['an hour', 3_600_000],
  ['a day', 86_400_000],
] as const;

afterEach(() => vi.restoreAllMocks());

/** A clock that is set back by as much each time it is told to. */
function aSteppingClock(backMs: number): () => void {
  let now = Date.UTC(2026, 0, 2);
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  return () => {
    now -= backMs;
  };
}

/** Every node says that it ran, and sets the clock back while it works. */
function threeNodes(ran: string[], setBack: () => void) {
  const work = (name: string) => async () => {
    await step('work', () => {
      ran.push(name);
      setBack();
    });
    return { log: [name] };
  };
  return new StateGraph(State)
    .addNode('draft', work('draft'))
    .addNode('publish', work('publish'))
    .addNode('archive', work('archive'))
    .addEdge(START, 'draft')
    .addEdge('draft', 'publish')
    .addEdge('publish', 'archive')
    .addEdge('archive', END);
}

describe('a clock that is set back', () => {
  test.for(STEPS)(
    'by %s in every node and over every restart runs no node twice',
    async ([, backMs], { dbPath }) => {
      const setBack = aSteppingClock(backMs);
      const ran: string[] = [];
      const restarted = async <T>(use: (app: ReturnType<typeof open>) => T | Promise<T>): Promise<T> => {
        setBack();
        const app = open();
        const result = await use(app);
        app.close();
        return result;
      };
      const open = () =>
        durable(threeNodes(ran, setBack), { file: dbPath, gates: { publish: (state) => state.log } });

      const { gates } = await restarted((app) => app.run('r', {}));
      await restarted((app) => app.decide(only(gates), { approved: true, by: { kind: 'human', id: 'ada' } }));
      for (let again = 0; again < 2; again += 1) {
        expect(await restarted((app) => app.run('r'))).toMatchObject({
          status: 'completed',
          values: { log: ['draft', 'publish', 'archive'] },
        });
      }
      expect(ran).toEqual(['draft', 'publish', 'archive']);
    },
  );

  test.for(STEPS)(
    'by %s leads plain LangGraph to the newest checkpoint, too',
    async ([, backMs], { dbPath }) => {
      const setBack = aSteppingClock(backMs);
      const ran: string[] = [];
      const restarted = async (input: object | null): Promise<unknown> => {
        setBack();
        const saver = new SqliteSaver(createDatabase({ dbPath }));
        const graph = new StateGraph(State)
          .addNode('ask', () => ({ log: [`answer: ${String(interrupt('ok?'))}`] }))
          .addNode('publish', () => {
            ran.push('publish');
            setBack();
            return { log: ['published'] };
          })
          .addEdge(START, 'ask')
          .addEdge('ask', 'publish')
          .addEdge('publish', END)
          .compile({ checkpointer: saver });
        const values = await graph.invoke(input as never, {
          configurable: { thread_id: 'r' },
          durability: 'sync',
        });
        saver.close();
        return values;
      };
      await restarted({ log: ['asked'] });
      const end = { log: ['asked', 'answer: yes', 'published'] };
      expect(await restarted(new Command({ resume: 'yes' }))).toEqual(end);
      expect(await restarted(null)).toEqual(end);
      expect(ran).toEqual(['publish']);
    },
  );
});
