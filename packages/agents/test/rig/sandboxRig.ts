import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AgentCall, isDevsError, type TaskRequest } from '@devs/core';
import { CommandChecks } from '../../src/checks/CommandChecks.ts';
import { commandAgents } from '../../src/command/commandAgents.ts';
import { runProcess } from '../../src/process/runProcess.ts';
import { bubblewrap } from '../../src/sandbox/bubblewrap.ts';
import type { Sandbox } from '../../src/sandbox/Sandbox.ts';
import { attackArgv, Project } from '../forge/Project.ts';
import { running, Stage } from './Stage.ts';

/** One thing the rig proves, with what it found. */
export interface Proof {
  readonly name: string;
  readonly passed: boolean;
  readonly found: string;
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const ESCAPES = fileURLToPath(new URL('escapes.child.mjs', import.meta.url));
const CLI = fileURLToPath(new URL('../command/codingCli.mjs', import.meta.url));
const signal = new AbortController().signal;

/** Ways to decide a gate: all those that succeed without a sandbox, and others. */
const GATE_WAYS = [
  'devs approve',
  'the library, under the name of a human',
  'the library, as an agent',
  'the library, as a policy',
  'a decision in its row',
  'a decision in the log alone',
  'a decision in row and log, with a wrong chain',
  'a decision in row and log, with the right chain',
  'other policies in the row of the run',
  'another state file, while nobody has it open',
  'configuration in the workspace',
  'the environment',
] as const;

/** R33: every way of the corpus, as a check. */
export async function escapes(): Promise<readonly Proof[]> {
  const { WAYS } = (await import(ESCAPES)) as { readonly WAYS: Readonly<Record<string, unknown>> };
  const proofs: Proof[] = [];
  for (const way of Object.keys(WAYS)) proofs.push(await tryToEscape(way));
  return proofs;
}

async function tryToEscape(way: string): Promise<Proof> {
  const stage = await Stage.build();
  const { HOME } = process.env;
  const { facts, workspace } = stage;
  Object.assign(process.env, { HOME: facts.home, RIG_API_KEY: facts.secret });
  try {
    copyFileSync(ESCAPES, join(workspace, 'escape.mjs'));
    writeFileSync(join(workspace, 'facts.json'), JSON.stringify(facts));
    const argv = [process.execPath, 'escape.mjs', way];
    const sandbox = bubblewrap({ project: facts.project });
    const checks = new CommandChecks({ argv, sandbox, timeoutMs: 20_000 });
    const { output } = await checks.run({ dir: workspace, signal });
    const damage = await stage.damage();
    const found = damage.length > 0 ? `changed ${damage.join(', ')}` : output.trim();
    return { name: way, passed: damage.length === 0 && !output.includes('escaped'), found };
  } finally {
    Object.assign(process.env, { HOME });
    delete process.env['RIG_API_KEY'];
    stage.tearDown();
  }
}

/** An agent command, with the network and the rights of one, at a run that waits at its first gate. */
export async function gates(): Promise<readonly Proof[]> {
  const proofs: Proof[] = [];
  for (const way of GATE_WAYS) {
    const project = new Project(mkdtempSync(join(tmpdir(), 'devs-rig-')));
    try {
      const { sessionId, artifactHash } = await project.toFirstGate();
      const { dir } = await project.workspace.open('victim');
      // It may even read the program it attacks with.
      const sandbox = bubblewrap({ project: project.dir, readable: [ROOT] });
      const said = await runAsAgent(attackArgv(way, sessionId, artifactHash), dir, sandbox);
      const gate = await project.firstGate();
      proofs.push({ name: way, passed: gate === 'closed', found: `${JSON.stringify(gate)}; ${said}` });
    } finally {
      rmSync(project.dir, { recursive: true, force: true, maxRetries: 3 });
    }
  }
  return proofs;
}

async function runAsAgent(argv: readonly string[], dir: string, sandbox: Sandbox): Promise<string> {
  const agents = await commandAgents({ command: { name: 'mallory', argv }, sandbox });
  try {
    return (await agents.implement(requestFor(dir), call())).summary;
  } catch (error) {
    if (!isDevsError(error, 'AGENT_FAILED')) throw error;
    return /(?:tried|refused): .*/.exec(error.message)?.[0] ?? error.message;
  }
}

const requestFor = (dir: string): TaskRequest => ({
  task: { taskId: 'victim:1', name: 'Forge', description: 'Decide the gate.', acceptanceCriteria: [] },
  documents: [],
  attempt: 1,
  lastFailure: null,
  guidance: [],
  workspace: { dir, list: async () => [], read: async () => '' },
});

const call = (): AgentCall => ({ idempotencyKey: 'rig', signal, usage: () => undefined });

/** R34: processes that move to another session, at the time limit and at an abort; half of `times` each. */
export async function survivors(times: number): Promise<Proof> {
  let left = 0;
  for (let index = 0; index < times; index += 1) {
    const stage = await Stage.build();
    const { daemon, project } = stage.facts;
    const script = `(exec -a ${daemon} setsid sleep 1000) &\nexec -a ${daemon} sleep 1000\n`;
    writeFileSync(join(stage.workspace, 'hang.sh'), script);
    const sandbox = bubblewrap({ project });
    const checks = new CommandChecks({ argv: ['bash', 'hang.sh'], sandbox, timeoutMs: 500 });
    const stop = index % 2 === 0 ? AbortSignal.timeout(300) : signal;
    await checks.run({ dir: stage.workspace, signal: stop }).catch(() => undefined);
    if (running(daemon)) left += 1;
    stage.tearDown();
  }
  return { name: 'processes that survive', passed: left === 0, found: `${left} of ${times}` };
}

/** R34: memory of the engine while a command prints. */
export async function flood(megabytes: number): Promise<Proof> {
  const dir = mkdtempSync(join(tmpdir(), 'devs-rig-'));
  const sandbox = bubblewrap({ project: dir, readable: [CLI] });
  const argv = [process.execPath, CLI, 'flood', String(megabytes)];
  const agents = await commandAgents({ command: { name: 'flood', argv }, sandbox });
  const before = process.memoryUsage().rss;
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 20);
  const { summary } = await agents.implement(requestFor(dir), call());
  clearInterval(sampling);
  rmSync(dir, { recursive: true, force: true });
  const grown = Math.round((peak - before) / 2 ** 20);
  const passed = grown <= 100 && summary.startsWith('… truncated');
  return { name: `${megabytes} MiB of output`, passed, found: `${grown} MiB more memory, marked as cut` };
}

/** R33: what the sandbox costs a command. */
export async function overhead(times: number): Promise<Proof> {
  const dir = mkdtempSync(join(tmpdir(), 'devs-rig-'));
  const place = { workspace: dir, dir, scratch: dir, network: false };
  const prefix = bubblewrap({ project: dir }).prefix(place);
  const timed = async (argv: readonly string[]): Promise<number> => {
    const started = performance.now();
    const ignore = (): void => undefined;
    const env = { PATH: process.env['PATH'] ?? '' };
    await runProcess({ argv, cwd: dir, env, timeoutMs: 10_000, onStdout: ignore, onStderr: ignore });
    return performance.now() - started;
  };
  const [bare, boxed]: [number[], number[]] = [[], []];
  for (let index = 0; index < times; index += 1) {
    bare.push(await timed(['true']));
    boxed.push(await timed([...prefix, 'true']));
  }
  rmSync(dir, { recursive: true, force: true });
  const ms = median(boxed) - median(bare);
  return { name: 'overhead of a command, p50', passed: ms <= 30, found: `${ms.toFixed(1)} ms` };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
