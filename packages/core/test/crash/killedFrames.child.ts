// One life of a flat run: `dbPath ledgerPath life answers`. Says `turn` after each super-step and `asked` with the open
// questions or `done` with the final state at its end. What it begins to work on goes to the ledger first.
import { appendFileSync, writeSync } from 'node:fs';
import { Command, INTERRUPT, interrupt, isInterrupted } from '@langchain/langgraph';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { runGraphIteratively } from '../../src/engine/frames/flatIterativeAdapter.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';
import { frameTree, TREE } from './frameTree.ts';

const [dbPath = '', ledger = '', life = '', answers = '{}'] = process.argv.slice(2);
const say = (what: string, value: unknown = null): void => {
  writeSync(1, `${what} ${JSON.stringify(value)}\n`);
};

const graph = frameTree({
  works: (name) => appendFileSync(ledger, `${life} ${name}\n`),
  ask: (name) => interrupt<string, string>(name),
});
const resume = JSON.parse(answers) as Record<string, string>;
const input = Object.keys(resume).length === 0 ? { part: TREE } : new Command({ resume });
const result: unknown = await runGraphIteratively(graph, input, {
  checkpointer: new SqliteSaver(createDatabase({ dbPath })),
  threadId: 'run',
  window: { push: () => say('turn') },
});
if (isInterrupted(result)) say('asked', result[INTERRUPT]);
else say('done', result);
