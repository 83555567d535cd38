import { type ChildProcess, spawn } from 'node:child_process';
import { DevsError } from '@devs/core';

const running = new Set<ChildProcess>();

/**
 * To call before a program is started: Windows has no process groups, so that what a command leaves running could not be
 * ended, and signals to one end as if it were gone.
 *
 * @throws DevsError `CONFIG_INVALID`
 */
export function assertProcessGroups(platform: NodeJS.Platform = process.platform): void {
  if (platform !== 'win32') return;
  throw new DevsError('Commands of a run cannot be started on Windows, which has no process groups.', {
    code: 'CONFIG_INVALID',
    remedy: 'Use the Windows Subsystem for Linux (WSL 2) for runs with checks or commits.',
  });
}

/** Signals every process of the child's group; a group that is already gone is fine. */
export function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') child.kill(signal);
  }
}

/** Ends the child's group with this process, should it end first; until the child has ended. */
export function endWithUs(child: ChildProcess): void {
  if (running.size === 0) process.on('exit', killAll);
  running.add(child);
  child.once('exit', () => {
    running.delete(child);
    if (running.size === 0) process.off('exit', killAll);
  });
}

function killAll(): void {
  for (const child of running) killGroup(child, 'SIGKILL');
}

/** ms */
const KILL_GRACE_MS = 2_000;

/** How long the pipes may stay open after the command ended and its group was killed, ms. */
const DRAIN_MS = 1_000;

export interface ProcessRequest {
  /** Program and arguments; no shell is involved. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Time between the polite and the final signal, ms. @defaultValue 2 000 */
  readonly graceMs?: number;
  readonly signal?: AbortSignal;
  /** Written to the command's input, which is then closed. Without it the input is empty. */
  readonly stdin?: string | Uint8Array;
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
}

export interface ProcessEnd {
  /** `null` when the command was ended by a signal. */
  readonly exitCode: number | null;
  readonly stoppedBy: 'timeout' | 'abort' | null;
}

/**
 * Runs a command in a process group of its own and leaves nothing of the group behind: the time limit and
 * the abort signal reach all of it (SIGTERM, then SIGKILL), and what a finished command left running is killed.
 *
 * A process that moved to another session is out of reach: that needs a sandbox.
 *
 * @throws the error of `spawn` (`ENOENT`, `EACCES`) when the command could not be started; DevsError `CONFIG_INVALID` on
 *   Windows.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  const child = startProcess(request);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const limits = watch(child, request);
  try {
    const exitCode = await exited;
    killGroup(child, 'SIGKILL');
    await settled(closed, DRAIN_MS);
    return { exitCode, stoppedBy: limits.stoppedBy() };
  } finally {
    limits.clear();
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

function startProcess({ argv, cwd, env, stdin, onStdout, onStderr }: ProcessRequest): ChildProcess {
  const [file, ...args] = argv;
  if (file === undefined || file === '') throw new TypeError('argv must name a command.');
  assertProcessGroups();
  const input = stdin === undefined ? 'ignore' : 'pipe';
  const child = spawn(file, args, { cwd, env, detached: true, stdio: [input, 'pipe', 'pipe'] });
  child.stdout?.on('data', onStdout);
  child.stderr?.on('data', onStderr);
  // A command may end without reading its input: EPIPE says nothing that its exit code does not.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(stdin);
  return child;
}

interface ProcessLimits {
  stoppedBy(): ProcessEnd['stoppedBy'];
  clear(): void;
}

function watch(
  child: ChildProcess,
  { timeoutMs, graceMs = KILL_GRACE_MS, signal }: ProcessRequest,
): ProcessLimits {
  let stoppedBy: ProcessEnd['stoppedBy'] = null;
  let kill: NodeJS.Timeout | undefined;
  const stop = (reason: 'timeout' | 'abort'): void => {
    if (stoppedBy !== null) return;
    stoppedBy = reason;
    killGroup(child, 'SIGTERM');
    kill = setTimeout(killGroup, graceMs, child, 'SIGKILL');
  };
  const limit = setTimeout(stop, timeoutMs, 'timeout');
  const onAbort = (): void => stop('abort');
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return {
    stoppedBy: () => stoppedBy,
    clear: () => {
      clearTimeout(limit);
      clearTimeout(kill);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

async function settled(work: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
