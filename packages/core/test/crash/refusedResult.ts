import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { step } from '../../src/engine/node/step.ts';

const State = Annotation.Root({ answer: Annotation<string>() });

/** What the graph below tells its test: how many calls it made, in whatever process. */
export const callsIn = (log: string): number => (existsSync(log) ? readFileSync(log, 'utf8').length : 0);

/** A graph that makes one call, of 0.5 US dollars; a node that catches what its step throws, and a handler of errors. */
export function oneCall(log: string, result: unknown, onRefused: () => void = () => {}) {
  const ask = () =>
    step('ask', ({ usage }) => {
      appendFileSync(log, '.');
      usage({ costUsd: 0.5 });
      return result;
    });
  return new StateGraph(State)
    .addNode('ask', async () => {
      try {
        return { answer: String(await ask()) };
      } catch {
        onRefused();
        return { answer: 'caught' };
      }
    })
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .setNodeDefaults({ errorHandler: () => ({ answer: 'handled' }) });
}
