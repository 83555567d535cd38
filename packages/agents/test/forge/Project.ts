import { fileURLToPath } from 'node:url';
import { type Checks, isDevsError, Orchestrator, type StageAgents } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { programFile } from '../../../core/test/support/programFile.ts';
import { CommandChecks } from '../../src/checks/CommandChecks.ts';
import { GitWorkspace } from '../../src/workspace/GitWorkspace.ts';

const CHILD = new URL('attack.child.ts', import.meta.url);
const BRIEF = '# Shop\n\nSell things.';

export interface ProjectOptions {
  readonly agents?: Partial<StageAgents>;
  readonly checks?: Checks;
}

/** The command that attacks, for {@link CommandChecks}: it always ends red. */
export function attackBy(way: string, ...args: readonly string[]): Checks {
  return new CommandChecks({ argv: [process.execPath, programFile(CHILD), way, ...args] });
}

/** The same from the sources. */
export function attackArgv(way: string, ...args: readonly string[]): readonly string[] {
  const node = [process.execPath, '--conditions=@devs/source', '--import', import.meta.resolve('tsx')];
  return [...node, fileURLToPath(CHILD), way, ...args];
}

/** A project folder with one run, `victim`: real git, a real state file, commands as real processes. */
export class Project {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
  }

  get workspace(): GitWorkspace {
    return new GitWorkspace({ dir: this.dir });
  }

  open({ agents = {}, checks = new CommandChecks({ argv: ['false'] }) }: ProjectOptions = {}) {
    const all = { ...fakeAgents({ tasks: 1 }), ...agents };
    return Orchestrator.open({ dir: `${this.dir}/.devs`, agents: all, workspace: this.workspace, checks });
  }

  /** Starts the run and drives it to its first gate. */
  async toFirstGate() {
    const devs = await this.open();
    const run = await devs.start({ id: 'victim', brief: BRIEF });
    const { gates } = await run.resume();
    devs.close();
    const [gate] = gates;
    if (gate?.kind !== 'design_approval') throw new Error('The run did not reach its first gate.');
    return gate;
  }

  /** Drives a run whose gates are open by policy; the given checks judge in turn, and the run stops after the last. */
  async verify({
    agents,
    checks,
  }: {
    readonly agents?: Partial<StageAgents>;
    readonly checks: readonly Checks[];
  }) {
    const stop = new AbortController();
    const left = [...checks];
    const run: Checks['run'] = async (request) => {
      const next = left.shift() ?? checks[checks.length - 1];
      if (left.length === 0) setImmediate(() => stop.abort());
      return (next as Checks).run(request);
    };
    const devs = await this.open({ checks: { run }, ...(agents && { agents }) });
    try {
      const gates = { design: 'auto', dag: 'auto' } as const;
      const victim = await devs.start({ id: 'victim', brief: BRIEF, gates });
      await victim.resume({ drain: stop.signal });
      const { tasks } = await victim.status();
      const failed = (await victim.log()).filter(({ name }) => name === 'TASK_FAILED');
      return tasks.map(({ status }) => ({ status, failedAttempts: failed.length }));
    } finally {
      devs.close();
    }
  }

  /** What became of the first gate: forged, still closed, or the error that says that somebody was there. */
  async firstGate(): Promise<'forged' | 'closed' | { readonly noticed: string }> {
    try {
      const devs = await this.open();
      try {
        const { gates } = await (await devs.run('victim')).resume();
        return gates[0]?.kind === 'design_approval' ? 'closed' : 'forged';
      } finally {
        devs.close();
      }
    } catch (error) {
      if (isDevsError(error)) return { noticed: error.code };
      throw error;
    }
  }
}
