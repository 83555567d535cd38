import { type ChildProcess, spawn } from 'node:child_process';
import { formatExit } from '../coding/agentFault.ts';
import type { CodingPlace } from '../coding/CodingTool.ts';
import type { InstalledTool, Launch } from '../coding/InstalledTool.ts';
import { MaskedTail } from '../process/MaskedTail.ts';
import { assertProcessGroups, endWithUs, killGroup } from '../process/processGroup.ts';
import { withScratch } from '../process/withScratch.ts';
import type { AcpProgram } from './AcpProgram.ts';

/** Bytes of what it printed that are shown in an error. */
const SHOWN_BYTES = 2_000;

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
export function runAgent(
  installed: InstalledTool<AcpProgram>,
  { dir, readOnly }: CodingPlace,
): Promise<RunningAgent> {
  const { tool, isConfined: confined } = installed;
  return new Promise((resolve, reject) => {
    const ended = withScratch('devs-agent-', async (scratch) => {
      const launch = await installed.launch(dir, tool.argv.slice(1), scratch);
      const child = startAgent({
        ...launch,
        env: { ...launch.env, ...tool.settings?.({ confined, readOnly }) },
      });
      const errors = new MaskedTail(SHOWN_BYTES);
      child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk));
      // It may end without reading: what became of it says more than EPIPE.
      child.stdin?.on('error', () => undefined);
      const exited = new Promise<string>((done) => {
        child.once('error', (error) => done(`could not be started (${error.message})`));
        child.once('exit', (code) => done(formatExit(code)));
      });
      resolve({ child, folder: launch.cwd, errors, exited, ended });
      await exited;
      killGroup(child, 'SIGKILL');
    });
    ended.catch(reject);
  });
}

function startAgent({ argv: [program = '', ...args], cwd, env }: Launch): ChildProcess {
  assertProcessGroups();
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  endWithUs(child);
  return child;
}
