import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { durable } from '../../src/engine/app/durable.ts';
import { type StepCall, step } from '../../src/engine/node/step.ts';

const State = Annotation.Root({ passed: Annotation<boolean>() });

/** A graph of one node with one call, whose result is its state. */
export function oneCallGraph(db: Database, call: (call: StepCall) => Promise<boolean>) {
  const builder = new StateGraph(State)
    .addNode('verify', async () => ({ passed: await step('check', call) }))
    .addEdge(START, 'verify')
    .addEdge('verify', END);
  return durable(builder, { db });
}
