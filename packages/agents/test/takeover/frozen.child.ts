// Drives a run of one task to its end and stops itself, as SIGSTOP from outside would, at one point.
// Prints a line when it stops, and how it ended as JSON.
// Arguments: DIR LABEL POINT. The label is what its agents write.
import { readdirSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { GitWorkspace } from '@devs/agents';
import {
  type CheckRequest,
  type CheckResult,
  isDevsError,
  Orchestrator,
  type RunWorkspace,
  type TaskRequest,
  type Workspace,
} from '@devs/core';
import { fakeAgents } from '@devs/core/testing';

type OpenOptions = NonNullable<Parameters<Workspace['open']>[1]>;

const [dir = '.', label = '', point = ''] = process.argv.slice(2);

let hasStopped = false;

function stopAt(here: string): void {
  if (here !== point || hasStopped) return;
  hasStopped = true;
  writeSync(1, 'frozen\n');
  process.kill(process.pid, 'SIGSTOP');
}

const fake = fakeAgents({ tasks: 1 });
const agents = {
  ...fake,
  implement: async ({ task }: TaskRequest) => {
    stopAt('agent');
    const number = task.taskId.split(':').at(-1) ?? '';
    return { summary: label, files: [{ path: `implement/${number}.txt`, content: `${label}\n` }] };
  },
};

/** Stops before what the engine does in the folder for `implement`, and before its first check is tidied and its first commit. */
function stopping(run: RunWorkspace): RunWorkspace {
  let isImplementing = false;
  return new Proxy(run, {
    get(target, name: keyof RunWorkspace) {
      const member = Reflect.get(target, name, target) as unknown;
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (name === 'apply') isImplementing = JSON.stringify(args).includes('implement/1.txt');
        if (isImplementing || name === 'discard' || name === 'commit') stopAt(name);
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
}

const git = new GitWorkspace({ dir });
const workspace: Workspace = {
  dirOf: (id) => git.dirOf(id),
  open: async (id: string, options?: OpenOptions) => stopping(await git.open(id, options)),
  ...(git.leave && { leave: git.leave.bind(git) }),
};

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** Green when every test has its implementation; leaves a file behind, as checks do. */
const checks = {
  run: async ({ dir: folder }: CheckRequest): Promise<CheckResult> => {
    stopAt('check');
    const missing = namesIn(join(folder, 'test')).filter(
      (name) => !namesIn(join(folder, 'implement')).includes(name),
    );
    writeFileSync(join(folder, 'litter.txt'), `${label}\n`);
    const passed = missing.length === 0;
    return { passed, exitCode: passed ? 0 : 1, timedOut: false, output: missing.join(), command: 'check' };
  },
};

const devs = await Orchestrator.open({ dir: join(dir, '.devs'), agents, workspace, checks });
const run = await devs.start({ id: 'r', brief: '# R\n', gates: { design: 'auto', dag: 'auto' } });
const ended = await run.resume().then(
  ({ status }) => ({ status, code: null }),
  (error: unknown) => ({ status: null, code: isDevsError(error) ? error.code : String(error) }),
);
devs.close();
writeSync(1, `${JSON.stringify(ended)}\n`);
