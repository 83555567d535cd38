import { readFileSync } from 'node:fs';

/** ns for which a process could have run and others had the processors (its first thread; Linux); elsewhere 0. */
export function queuedNs(pid: number | 'self' = 'self'): bigint {
  try {
    return BigInt(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1] ?? '');
  } catch {
    return 0n;
  }
}
