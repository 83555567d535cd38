import { ENDED_STATUSES, type ThreadStatus } from '../../state/threadRecords.ts';

export type EndedStatus = (typeof ENDED_STATUSES)[number];

const ENDED: ReadonlySet<ThreadStatus> = new Set(ENDED_STATUSES);

/** Whether a child's parent is told of it: a failed one may be driven again, its parent goes on without. */
export const hasEnded = (status: ThreadStatus): status is EndedStatus => ENDED.has(status);
