import type { ChildProcess } from 'node:child_process';
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
