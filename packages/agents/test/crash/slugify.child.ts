// Drives the slugify example to its end, or goes on with it. Every call of an agent is first a line in calls.log:
// a ledger outside the engine, which a test holds against what the engine recorded.
// Arguments: DIR EXAMPLE, the folder of the example
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandChecks, GitWorkspace, ReplayAgents } from '@devs/agents';
import { type AgentCall, Orchestrator, type StageAgents } from '@devs/core';
import { NODE_TESTS } from '../../../core/test/support/nodeTests.ts';

const [dir = '.', example = '.'] = process.argv.slice(2);

const replay = ReplayAgents.open(join(example, 'recording.jsonl'));
const agents = new Proxy<StageAgents>(replay, {
  get(target, name: keyof StageAgents) {
    const member = target[name];
    if (typeof member !== 'function') return member;
    return (request: never, call: AgentCall) => {
      appendFileSync(join(dir, 'calls.log'), `${call.idempotencyKey}\n`);
      return Reflect.apply(member, target, [request, call]);
    };
  },
});

const devs = await Orchestrator.open({
  dir: join(dir, '.devs'),
  agents,
  workspace: new GitWorkspace({ dir }),
  checks: new CommandChecks({ argv: NODE_TESTS }),
});
const run = await devs.start({
  id: 'slugify',
  brief: readFileSync(join(example, 'brief.md'), 'utf8'),
  gates: { design: 'auto', dag: 'auto' },
});
const { status, commits } = await run.resume();
devs.close();
process.stdout.write(JSON.stringify({ status, commits: commits.map(({ subject }) => subject) }));
