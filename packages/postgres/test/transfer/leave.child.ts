// Leaves threads waiting in the tables of an official PostgresSaver, and says their ids: leave.child.ts URL
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { leaveThreads } from '../../../core/test/support/threadGraphs.ts';

const saver = PostgresSaver.fromConnString(process.argv[2] ?? '');
await saver.setup();
process.stdout.write(JSON.stringify(await leaveThreads(saver)));
await saver.end();
