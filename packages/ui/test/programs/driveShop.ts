// DIR    drives the run in DIR with agents that answer at once, up to its next gate; prints that it begins
import { Orchestrator } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';

const [dir = ''] = process.argv.slice(2);
const devs = await Orchestrator.open({
  dir,
  agents: fakeAgents({ tasks: 2 }),
  workspace: new MemoryWorkspace(),
  checks: scriptedChecks(),
});
const run = await devs.run('shop');
process.stdout.write('begins');
await run.resume();
devs.close();
