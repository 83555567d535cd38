import { startCounting } from './countingProcess.ts';

/** A process that commits checkpoints until it is killed. */
export interface CommittingProcess {
  /** Number of the last commit that the process has said to be done. */
  acknowledged(): number;
  /** SIGKILL; resolves when the process is gone and all it said was heard. */
  kill(): Promise<void>;
}

export interface Commits {
  readonly threadId: string;
  /** Bytes of new, incompressible state per commit. */
  readonly valueBytes: number;
  /** Milliseconds between two commits. */
  readonly pauseMs: number;
}

/** Starts a process that claims a run and commits to it. */
export function startCommitting(
  dbPath: string,
  { threadId, valueBytes, pauseMs }: Commits,
): CommittingProcess {
  const args = [dbPath, threadId, String(valueBytes), String(pauseMs)];
  const { count, kill } = startCounting('packages/core/test/db/writeCheckpoints.child.ts', args);
  return { acknowledged: count, kill };
}
