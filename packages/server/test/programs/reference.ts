import { exit, stdin, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { startServer } from '@langchain/langgraph-api/server';

// The development server of LangGraph.js, as `langgraphjs dev` starts it: folder, number of workers.

const [cwd = '.', workers = '10'] = process.argv.slice(2);
const graphs = fileURLToPath(new URL('referenceGraphs.ts', import.meta.url));
const { host } = await startServer({
  port: 0,
  host: '127.0.0.1',
  cwd,
  nWorkers: Number(workers),
  graphs: Object.fromEntries(
    ['echo', 'steps', 'post', 'chat', 'agent'].map((name) => [name, `${graphs}:${name}`]),
  ),
});
stdout.write(`READY http://${host}\n`);
stdin.on('end', () => exit()).resume();
