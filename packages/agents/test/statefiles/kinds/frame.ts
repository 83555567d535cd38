import { type CompiledLangGraph, recurse, runGraphIteratively, SqliteSaver } from '@devs/core/langgraph';
import { createDatabase } from '@devs/core/state';
import {
  Annotation,
  Command,
  END,
  INTERRUPT,
  interrupt,
  isInterrupted,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { RUN, stateFileIn } from '../OpenRun.ts';
import type { Resumed, StateFileKind } from '../StateFileKind.ts';

const State = Annotation.Root({ depth: Annotation<number>(), text: Annotation<string>() });

const DEEPEST = 3;

type Nested = CompiledLangGraph<Partial<typeof State.State>, typeof State.State>;

/** A graph that runs itself inside its node; the innermost one asks. */
function nestedGraph(ledger: Ledger): Nested {
  const graph: Nested = new StateGraph(State)
    .addNode('work', async ({ depth }) => ({
      text: await ledger.call(`work ${depth}`, `work/${depth}`, `worked at ${depth}`),
    }))
    .addNode('descend', async ({ depth, text }) => {
      const below =
        depth === DEEPEST
          ? `${interrupt<string, string>('May I go on?')}`
          : (await recurse(graph, { depth: depth + 1 })).text;
      return { text: `${text}, ${below}` };
    })
    .addEdge(START, 'work')
    .addEdge('work', 'descend')
    .addEdge('descend', END)
    .compile();
  return graph;
}

async function drive(dir: string, input: Parameters<typeof runGraphIteratively>[1]): Promise<unknown> {
  const db = createDatabase({ dbPath: stateFileIn(dir) });
  const options = { checkpointer: new SqliteSaver(db), threadId: RUN };
  const result = await runGraphIteratively(nestedGraph(new Ledger(dir)), input as never, options);
  db.close();
  return result;
}

async function resume(dir: string): Promise<Resumed> {
  const waiting = await drive(dir, null);
  if (!isInterrupted(waiting)) return { answered: [], status: 'completed', outcome: waiting };
  const questions = waiting[INTERRUPT].map(({ value }) => String(value));
  const outcome = await drive(dir, new Command({ resume: 'go on' }));
  return { answered: questions, status: isInterrupted(outcome) ? 'suspended' : 'completed', outcome };
}

/** Frames of graphs inside graphs, on a saver without an engine around it; the innermost one waits for an answer. */
export const frame: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => void (await drive(dir, { depth: 0 })),
  resume,
  resumed: {
    answered: ['May I go on?'],
    status: 'completed',
    outcome: { depth: 0, text: 'worked at 0, worked at 1, worked at 2, worked at 3, go on' },
  },
  calls: ['work 0', 'work 1', 'work 2', 'work 3'],
};
