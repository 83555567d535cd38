import { DevsError } from '../errors/DevsError.ts';
import { parseStored } from './parseStored.ts';
import { type Policies, THREAD_STATUSES, type Thread } from './threadRecords.ts';

/** A run as the file has it. */
export interface ThreadRow extends Omit<Thread, 'policies' | 'degraded' | 'keepsExactly'> {
  readonly policiesJson: string;
  readonly degraded: 0 | 1;
  readonly keepsExactly: 0 | 1;
  readonly sound: 1;
}

/** @throws DevsError `STATE_CORRUPT` */
export function threadFromRow({ policiesJson, degraded, keepsExactly, sound: _, ...row }: ThreadRow): Thread {
  if (!THREAD_STATUSES.includes(row.status)) throw unknownStatus(row.threadId);
  const policies = parseStored(policiesJson, `run "${row.threadId}"`) as Policies;
  return { ...row, degraded: degraded === 1, keepsExactly: keepsExactly === 1, policies };
}

function unknownStatus(threadId: string): DevsError {
  return new DevsError(`Run "${threadId}" has an unknown status.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Run devs admin doctor, then restore a backup of the state file.',
    context: { threadId },
  });
}

/** @throws DevsError `THREAD_NOT_FOUND` */
export function runNotFound(threadId: string): never {
  throw new DevsError(`There is no run "${threadId}" in this state file.`, {
    code: 'THREAD_NOT_FOUND',
    remedy: 'List the runs to find the right id, or start this run.',
    context: { threadId },
  });
}
