// Leaves threads waiting in the file of an official SqliteSaver, says their ids, and stays until it is killed: leave.child.ts FILE
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { leaveThreads } from '../support/threadGraphs.ts';

const saver = SqliteSaver.fromConnString(process.argv[2] ?? '');
process.stdout.write(`${JSON.stringify(await leaveThreads(saver))}\n`);
setInterval(() => saver.db.open, 1_000);
