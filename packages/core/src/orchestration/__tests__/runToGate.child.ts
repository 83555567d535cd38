// Runs a project to its first gate, as a program that uses plain LangGraph would; then waits to be killed.
import { createDatabase } from '../../db/createDatabase.ts';
import { OrchestrationGraph } from '../graph.ts';
import { aPlannedState } from './aState.ts';

const [dbPath = '', projectId = ''] = process.argv.slice(2);
const og = OrchestrationGraph.withSqlitePersistence(createDatabase({ dbPath }));
await og.graph.invoke(aPlannedState(), OrchestrationGraph.configForProject(projectId));
process.stdout.write('"suspended"\n');
setInterval(() => {}, 1_000);
