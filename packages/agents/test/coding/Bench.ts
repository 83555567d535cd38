import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Activity, AgentCall, AnswerRequest, StageAgents, TaskRequest } from '@devs/core';
import type { AcpProgram } from '../../src/acp/AcpProgram.ts';
import { type AcpAgentsOptions, acpAgents } from '../../src/acp/acpAgents.ts';
import type { CommandRecipe } from '../../src/command/CommandRecipe.ts';
import { type CommandAgentsOptions, commandAgents } from '../../src/command/commandAgents.ts';

type UsageReport = Parameters<AgentCall['usage']>[0];

const AGENT = fileURLToPath(new URL('../acp/agent.child.mjs', import.meta.url));
const CLI = fileURLToPath(new URL('../command/codingCli.mjs', import.meta.url));

/** What both transports have. */
type Common = Pick<AcpAgentsOptions, 'sandbox' | 'timeoutMs' | 'maxOutputBytes' | 'graceMs'>;

/** A folder to work in, and coding CLIs of ours that do in it as they are told. */
export class Bench {
  readonly base = mkdtempSync(join(tmpdir(), 'devs-coding-'));
  readonly dir = join(this.base, 'work');
  readonly #opened: StageAgents[] = [];

  constructor() {
    mkdirSync(this.dir);
  }

  async clear(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map(async (agents) => agents.close?.()));
    rmSync(this.base, { recursive: true, force: true, maxRetries: 3 });
  }

  program(mode: string, more: Partial<AcpProgram> = {}): AcpProgram {
    return { name: 'agent', argv: [process.execPath, AGENT, mode, join(this.base, 'spawned')], ...more };
  }

  recipe(mode: string, { argv = [], ...more }: Partial<CommandRecipe> = {}): CommandRecipe {
    return { name: 'agent', argv: [process.execPath, CLI, mode, ...argv], ...more };
  }

  async acp(program: AcpProgram, more: Partial<AcpAgentsOptions> = {}): Promise<StageAgents> {
    return this.#kept(await acpAgents({ agent: program, sandbox: null, ...more }));
  }

  async command(recipe: CommandRecipe, more: Partial<CommandAgentsOptions> = {}): Promise<StageAgents> {
    return this.#kept(await commandAgents({ command: recipe, sandbox: null, ...more }));
  }

  request(more: Partial<TaskRequest> = {}): TaskRequest {
    return {
      task: { taskId: 'sum:1', name: 'Add', description: 'A sum.', acceptanceCriteria: ['1 + 2 is 3'] },
      documents: [],
      attempt: 1,
      lastFailure: null,
      guidance: [],
      workspace: this.#reader,
      ...more,
    };
  }

  question(): AnswerRequest {
    const gate = { kind: 'design_approval', message: 'Approve?', artifact: null } as const;
    const { workspace } = this.request();
    return { stage: 'design', gate, question: 'Why?', earlier: [], brief: 'Add.', documents: [], workspace };
  }

  /** Ids of the processes that an agent of the protocol ran in. */
  spawned(): readonly number[] {
    const file = join(this.base, 'spawned');
    if (!existsSync(file)) return []; // ended before it could say so
    return readFileSync(file, 'utf8').trim().split('\n').map(Number);
  }

  /** Those that one wrote down when it had started what no signal but the last ends. */
  async startedPids(): Promise<readonly number[]> {
    while (!existsSync(join(this.dir, 'pids'))) await sleep(20);
    return readFileSync(join(this.dir, 'pids'), 'utf8').split(' ').map(Number);
  }

  get #reader(): TaskRequest['workspace'] {
    return { dir: this.dir, list: async () => [], read: async () => '' };
  }

  #kept(agents: StageAgents): StageAgents {
    this.#opened.push(agents);
    return agents;
  }
}

type Login = Pick<CommandRecipe, 'env' | 'home'>;
type Open = (bench: Bench, mode: string, more?: Partial<Common> & Login) => Promise<StageAgents>;

const overTheProtocol: Open = (bench, mode, { env = [], home = [], ...more } = {}) =>
  bench.acp(bench.program(mode, { env, home }), more);
const asCommand: Open = (bench, mode, { env = [], home = [], ...more } = {}) =>
  bench.command(bench.recipe(mode, { env, home }), more);

/** Both ways to the same coding CLI. */
export const TRANSPORTS = [
  ['over the protocol', overTheProtocol],
  ['as a command', asCommand],
] as const;

export function callWith(signal: AbortSignal = new AbortController().signal) {
  const reports: UsageReport[] = [];
  const told: Activity[] = [];
  const call: AgentCall = {
    idempotencyKey: 'k',
    signal,
    usage: (report) => reports.push(report),
    // What it is sent is what the test has asked for.
    onActivity: (activity) => activity.kind !== 'prompt' && told.push(activity),
  };
  return { call, reports, told };
}

/** A killed one stays a zombie until its new parent reaps it. */
export const isGone = (pid: number): boolean =>
  !existsSync(`/proc/${pid}/stat`) || / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

export async function gone(pid: number): Promise<void> {
  while (!isGone(pid)) await sleep(20);
}
