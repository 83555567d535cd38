// A service over one state file, as `examples/service` has it: drives all that is due at the same time, until nothing is.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { END, START, StateGraph } from '@langchain/langgraph';
import { OwnState } from '../../src/engine/__tests__/ownGraph.ts';
import { isDevsError } from '../../src/errors/DevsError.ts';
import { durable } from '../../src/langgraph.ts';

const [file = '', ledger = ''] = process.argv.slice(2);
const idOf = (config: { readonly configurable?: object }): string =>
  String(Object(config.configurable).thread_id);

const node = async (_: typeof OwnState.State, config: { readonly configurable?: object }) => {
  const id = idOf(config);
  appendFileSync(ledger, `${process.pid} ${id}\n`);
  await sleep(20);
  if (id === 'poison') process.exit(1);
  return { log: [id] };
};
const app = durable(
  new StateGraph(OwnState)
    .addNode('first', node)
    .addNode('second', node)
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', END),
  { file },
);

process.stdin.once('end', () => process.exit()); // whoever has started it is gone
process.stdin.resume();
const driven = new Map<string, Promise<unknown>>();
for (;;) {
  const { runs } = await app.list({ status: ['created', 'running', 'paused'], limit: 100 });
  if (runs.length === 0) break;
  for (const { id, isDriven } of runs) {
    if (isDriven || driven.has(id)) continue;
    const run = app.run(id, undefined, { throwOnFailure: false }).catch((error: unknown) => {
      if (!isDevsError(error, 'THREAD_BUSY')) throw error;
    });
    driven.set(
      id,
      run.finally(() => driven.delete(id)),
    );
  }
  await sleep(20);
}
process.exit(0);
