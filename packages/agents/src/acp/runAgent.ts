import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { copyLogin, NETWORK_ENV } from '../command/agentHome.ts';
import type { Program } from '../command/findProgram.ts';
import { commandEnvironment } from '../process/commandEnvironment.ts';
import { MaskedTail } from '../process/MaskedTail.ts';
import { assertProcessGroups, endWithUs, killGroup } from '../process/processGroup.ts';
import { type Scratch, withScratch } from '../process/withScratch.ts';
import type { Sandbox } from '../sandbox/Sandbox.ts';
import type { AcpProgram } from './AcpProgram.ts';

/** Bytes of what it printed that are shown in an error. */
const SHOWN_BYTES = 2_000;

export interface AgentLimits {
  /** What confines it; `null`: on purpose nothing. */
  readonly sandbox: Sandbox | null;
  /** Time limit of one stage, ms. */
  readonly timeoutMs: number;
  /** Bytes it may print within one stage. */
  readonly maxOutputBytes: number;
}

/** What a process was started for; another place is another process. */
export interface AgentPlace {
  /** The folder it works in; `null` gives it an empty one. */
  readonly dir: string | null;
  readonly readOnly: boolean;
}

export interface InstalledAgent {
  readonly agent: AcpProgram;
  readonly program: Program;
  readonly limits: AgentLimits;
}

/** A process of an agent. */
export interface RunningAgent {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly errors: MaskedTail;
  /** How it ended, in words. */
  readonly exited: Promise<string>;
  /** Once its group and its folders are gone. */
  readonly ended: Promise<void>;
}

/** Starts the program in folders that live as long as it. */
export function runAgent(installed: InstalledAgent, place: AgentPlace): Promise<RunningAgent> {
  return new Promise((resolve, reject) => {
    const ended = withScratch('devs-agent-', async (scratch) => {
      const folder = place.dir ?? join(scratch.dir, 'work');
      await Promise.all([
        mkdir(folder, { recursive: true }),
        copyLogin(scratch.home, installed.agent.home ?? []),
      ]);
      const child = start(installed, { ...place, dir: folder }, scratch);
      const errors = new MaskedTail(SHOWN_BYTES);
      child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk));
      // It may end without reading: what became of it says more than EPIPE.
      child.stdin?.on('error', () => undefined);
      const exited = new Promise<string>((done) => {
        child.once('error', (error) => done(`could not be started (${error.message})`));
        child.once('exit', (code) =>
          done(code === null ? 'was ended by a signal' : `ended with exit code ${code}`),
        );
      });
      resolve({ child, folder, errors, exited, ended });
      await exited;
      killGroup(child, 'SIGKILL');
    });
    ended.catch(reject);
  });
}

function start(
  { agent, program: { file, folder: readable }, limits: { sandbox } }: InstalledAgent,
  { dir: folder, readOnly }: AgentPlace & { readonly dir: string },
  scratch: Scratch,
): ChildProcess {
  const { argv, network = true, env = [], settings } = agent;
  const confinement = {
    workspace: folder,
    dir: folder,
    scratch: scratch.dir,
    network,
    readable: [readable, file],
  };
  const [program = file, ...args] = [...(sandbox?.prefix(confinement) ?? []), file, ...argv.slice(1)];
  assertProcessGroups();
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      ...commandEnvironment(scratch, [...NETWORK_ENV, ...env]),
      ...settings?.({ confined: sandbox !== null, readOnly }),
    },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  endWithUs(child);
  return child;
}
