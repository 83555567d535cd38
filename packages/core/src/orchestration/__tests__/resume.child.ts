// Takes a project up in a new process with nothing but its state file, and answers its gates until it has ended.
import { Command, isInterrupted } from '@langchain/langgraph';
import { createDatabase } from '../../db/createDatabase.ts';
import { OrchestrationGraph } from '../graph.ts';

const [dbPath = '', projectId = ''] = process.argv.slice(2);
const og = OrchestrationGraph.withSqlitePersistence(createDatabase({ dbPath }));
const config = OrchestrationGraph.configForProject(projectId);
const approval = { approved: true, approvedAt: new Date().toISOString() };
let state = await og.graph.invoke(new Command({ resume: approval }), config);
while (isInterrupted(state)) state = await og.graph.invoke(new Command({ resume: approval }), config);
process.stdout.write(`${JSON.stringify(state)}\n`);
