// Drives a run with model agents against a server to its end, staying at gates. Prints how it ended as JSON.
// Arguments: DIR, the address of the server, and `first` for the first epic alone with gates that a policy decides. The key
// is in OPENAI_API_KEY.
import { join } from 'node:path';
import { CommandChecks, GitWorkspace, modelAgents } from '@devs/agents';
import { Orchestrator } from '@devs/core';
import { NODE_TESTS } from '../../../core/test/support/nodeTests.ts';

const [dir = '.', baseURL, only] = process.argv.slice(2);
const devs = await Orchestrator.open({
  dir: join(dir, '.devs'),
  agents: await modelAgents({ model: 'openai:scripted', settings: { configuration: { baseURL } } }),
  workspace: new GitWorkspace({ dir }),
  checks: new CommandChecks({ argv: NODE_TESTS }),
});
const isFirst = only === 'first';
const run = await devs.start({
  id: 'sum',
  brief: '# Sum\n\nAdd numbers.\n',
  ...(isFirst && { gates: { design: 'auto', dag: 'auto' } }),
});
const { status, reason, commits, cost } = await run.resume(isFirst ? { epic: 'E1' } : { wait: true });
devs.close();
process.stdout.write(
  JSON.stringify({ status, reason, commits: commits.map(({ subject }) => subject), cost }),
);
