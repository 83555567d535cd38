import type { ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();

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
