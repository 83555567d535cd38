// A process of `devs admin chaos`, there to be killed. Argument: a folder of its own. Drives one run of scripted agents
// on a real state file and a real git store, and keeps beside them, for the judge, every call it makes (calls.log) and
// every event it was told of (events.log): the engine publishes after its commit, so the file must hold each of them.
import { appendFileSync, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { GitWorkspace } from '@devs/agents';
import { type Checks, Orchestrator } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { CHAOS_RUN, CHAOS_TASKS } from './observe.ts';

const [dir = ''] = process.argv.slice(2);
const append = (file: string, line: string): void => appendFileSync(path.join(dir, file), `${line}\n`);

/** Red while a test has no code: the same verdict in every process. */
const checks: Checks = {
  run: async ({ dir: folder }) => {
    const filesIn = (name: string): readonly string[] =>
      existsSync(path.join(folder, name)) ? readdirSync(path.join(folder, name)) : [];
    const passed = filesIn('test').every((name) => filesIn('implement').includes(name));
    return { passed, exitCode: passed ? 0 : 1, timedOut: false, output: '', command: 'tree' };
  },
};

const devs = await Orchestrator.open({
  dir: path.join(dir, '.devs'),
  agents: fakeAgents({ tasks: CHAOS_TASKS, onCall: (_what, key) => append('calls.log', key) }),
  workspace: new GitWorkspace({ dir }),
  checks,
});
devs.events.onAny((name, payload) => append('events.log', `${name} ${JSON.stringify(payload)}`));
const chaosGates = { design: 'auto', dag: 'auto' } as const;
const chaosRun = await devs.start({ id: CHAOS_RUN, brief: '# Chaos\n\nSurvive.\n', gates: chaosGates });
await chaosRun.resume();
devs.close();
