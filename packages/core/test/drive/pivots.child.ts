// Drives one run whose task fails with the same error for ever, and kills itself at the named point. Arguments: the
// state file, the point (or nothing). Every call of an agent is a line in calls.log, written before it is answered; the
// last line on stdout is the outcome.
import { appendFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EventBus } from '../../src/events/events.ts';
import type { RunWorkspace, StageAgents } from '../../src/orchestration/ports.ts';
import { Orchestrator } from '../../src/surface/Orchestrator.ts';
import { fakeAgents } from '../../src/testing/index.ts';

const [, , file = '', dieAt = ''] = process.argv;
const dir = dirname(file);

function reach(point: string): void {
  if (point === dieAt) process.kill(process.pid, 'SIGKILL');
}

const called = (what: string, key: string): void => {
  appendFileSync(join(dir, 'calls.log'), `${what} ${key}\n`);
  reach(what);
};

/** The second strategy is the first one in other words, and so is what comes when that is refused. */
const fake = fakeAgents({ tasks: 1, strategies: ['A', 'a!', ' A '], onCall: called });
const implement: StageAgents['implement'] = async (_request, { idempotencyKey }) => {
  called('implement', idempotencyKey);
  throw new TypeError('cannot read x of undefined');
};

/** Nothing is edited, so nothing has to outlive the process. */
const folder: RunWorkspace = {
  dir,
  list: async () => [],
  read: async (path) => path,
  apply: async () => {},
  snapshot: async () => 'tree',
  restore: async () => null,
  commit: async () => 'commit',
  log: async () => [],
  changes: async () => null,
};

const events = new EventBus();
events.on('STEP_FINISHED', ({ step }) => reach(`recorded ${step}`));
events.on('NODE_FINISHED', ({ node }) => reach(`finished ${node}`));
events.on('FAILURE_GATE_OPENED', () => reach('gate opened'));

const devs = await Orchestrator.open({
  dir,
  events,
  agents: { ...fake, implement },
  workspace: { dirOf: () => dir, open: async () => folder },
  checks: {
    run: async () => ({ passed: false, exitCode: 1, timedOut: false, output: 'red', command: 'none' }),
  },
});
const run = await devs.start({ id: 'run', brief: '# Run', gates: { design: 'auto', dag: 'auto' } });
const { status, reason, gates } = await run.resume();
const { taskAttempts, taskPivots, pivots, errorHistory } = (await run.state()) ?? {};
const outcome = { status, reason, gates: gates.map(({ kind, artifact }) => ({ kind, artifact })) };
const counters = {
  taskAttempts,
  taskPivots,
  pivots,
  errors: errorHistory?.map((error) => error.consecutiveCount),
};
process.stdout.write(`${JSON.stringify({ ...outcome, ...counters })}\n`);
devs.close();
