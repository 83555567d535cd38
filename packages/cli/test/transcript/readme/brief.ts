import { CommandChecks, GitWorkspace, modelAgents } from '@devs/agents';
import { Orchestrator } from '@devs/core';
import { brief } from './world.ts';

const devs = await Orchestrator.open({
  dir: '.devs',
  agents: await modelAgents({ model: 'openai:gpt-5' }),
  workspace: new GitWorkspace({ dir: '.' }),
  checks: new CommandChecks({ argv: ['npm', 'test'] }),
});
const run = await devs.start({ id: 'csv-export', brief }); // the same id is always the same run
const { gates } = await run.resume(); // stops when it needs a person
for (const gate of gates) await run.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
await run.resume(); // from the design to the plan and its gate, then to one commit per task
devs.close();
