import { mkdtempSync } from 'node:fs';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { MemorySaver } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { runGraphIteratively } from '../../src/engine/frames/flatIterativeAdapter.ts';
import { type CompiledLangGraph, recurse } from '../../src/engine/frames/recurse.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';
import { pipeline } from '../overhead/subjects.ts';

/** Who keeps the run: this engine in a file, or LangGraph with its `MemorySaver`, or nobody in plain recursion. */
export type Keeper = 'devs' | 'plain';

/** Runs to its end and calls `measure` once, where the most is held. */
export type Subject = (keeper: Keeper, size: number, dbPath: string, measure: () => void) => Promise<void>;

const KIB = 1024;

/** Text that no other call returns, held in memory as one byte per character. */
function uniqueText(length: number, of: number): string {
  const words: string[] = [];
  for (let at = 0; at * 16 < length; at += 1)
    words.push(((of + 1) * 1e9 + at).toString(36).padStart(16, '.'));
  return Buffer.from(words.join('').slice(0, length), 'latin1').toString('latin1');
}

const LoopState = Annotation.Root({
  step: Annotation<number>(),
  stable: Annotation<string>(),
  changing: Annotation<string>(),
});

function loop(steps: number) {
  return new StateGraph(LoopState)
    .addNode('work', ({ step }) => ({ step: step + 1, changing: uniqueText(KIB, step) }))
    .addEdge(START, 'work')
    .addConditionalEdges('work', ({ step }) => (step < steps ? 'work' : END), ['work', END]);
}

/** One graph that goes round: 100 KiB that stay, 1 KiB that changes with every super-step. */
const longRun: Subject = async (keeper, steps, dbPath, measure) => {
  const input = { step: 0, stable: uniqueText(100 * KIB, 0), changing: '' };
  if (keeper === 'plain') {
    const saver = new MemorySaver();
    const graph = loop(steps).compile({ checkpointer: saver });
    await graph.invoke(input, { configurable: { thread_id: 'run' }, recursionLimit: steps + 10 });
    measure();
    assert(Object.keys(saver.storage).length === 1);
    return;
  }
  const app = durable(loop(steps), {
    db: opened(dbPath),
    guards: { maxDepth: steps + 1 },
  });
  const { status } = await app.run('run', input);
  measure();
  assert(status === 'completed');
};

const NestedState = Annotation.Root({
  left: Annotation<number>(),
  content: Annotation<string>(),
  frames: Annotation<number>(),
});

/** Each frame has 100 KiB of its own and asks for the next one; the innermost measures. */
const nestedFrames: Subject = async (keeper, depth, dbPath, measure) => {
  const graph: CompiledLangGraph<
    Partial<typeof NestedState.State>,
    typeof NestedState.State
  > = new StateGraph(NestedState)
    .addNode('descend', async ({ left }) => {
      if (left === 0) {
        measure();
        return { frames: 1 };
      }
      const input = { left: left - 1, content: uniqueText(100 * KIB, left) };
      return { frames: (await recurse(graph, input)).frames + 1 };
    })
    .addEdge(START, 'descend')
    .addEdge('descend', END)
    .compile();
  const input = { left: depth, content: uniqueText(100 * KIB, depth + 1) };
  const { frames } = await (keeper === 'plain' ? graph.invoke(input) : runFlat(graph, input, dbPath));
  assert(frames === depth + 1);
};

const opened = (dbPath: string): Database => createDatabase({ dbPath, synchronous: 'normal' });

async function runFlat<Input, Output>(
  graph: CompiledLangGraph<Input, Output>,
  input: NoInfer<Input>,
  dbPath: string,
): Promise<Output> {
  return runGraphIteratively(graph, input, { checkpointer: new SqliteSaver(opened(dbPath)) });
}

/** The pipeline without agents over a plan of so many tasks, both of its gates decided. */
const project: Subject = async (keeper, tasks, dbPath, measure) => {
  const kept = keeper === 'devs' ? 'devs normal' : 'memory';
  const run = await pipeline(tasks).prepare(kept, mkdtempSync(`${dbPath}-`));
  await run.run();
  measure();
  run.close();
};

function assert(holds: boolean): void {
  if (!holds) throw new Error('The run did not end as it should.');
}

export const SUBJECTS = { 'long run': longRun, project, 'nested frames': nestedFrames } as const;
export type SubjectName = keyof typeof SUBJECTS;
