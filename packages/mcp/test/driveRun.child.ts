// Drives a run and tells where it stands; goes on with every line on stdin.
import { createInterface } from 'node:readline';
import { Orchestrator } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';

const [dir = '', brief = ''] = process.argv.slice(2);
const stdin = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const holdAt = (place: string): Promise<unknown> => {
  process.stdout.write(`${JSON.stringify(place)}\n`);
  return stdin.next();
};

const agents = fakeAgents({ tasks: 2 });
const devs = await Orchestrator.open({
  dir,
  agents: {
    ...agents,
    implement: async (request, call) => {
      await holdAt('in a task');
      call.onActivity?.({ kind: 'text', text: `At work on T${request.task.taskId.split(':').at(-1)}` });
      return agents.implement(request, call);
    },
  },
  workspace: new MemoryWorkspace(),
  checks: scriptedChecks(),
});
const run = await devs.start({ id: 'csv-export', brief });
let now = await run.resume();
while (now.status === 'waiting') {
  await holdAt('at a gate');
  for (const gate of now.gates) await run.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
  now = await run.resume();
}
process.stdout.write(`${JSON.stringify(now.status)}\n`);
devs.close();
process.exit();
