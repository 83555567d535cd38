import type { ClaimOptions, ClaimResult, Thread, ThreadStatus } from '../../state/threads/threadRecords.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { type ActiveLease, holdLease } from './lease.ts';
import { isOver } from './RunResult.ts';

/** A run that was claimed, as its driver found it. */
export interface ClaimedDrive extends ActiveLease {
  readonly isDue: boolean;
  readonly statusBefore: ThreadStatus;
  /** `null` where something has to be done before it is begun. */
  readonly begun: Thread | null;
}

type Found = Pick<ClaimedDrive, 'isDue' | 'statusBefore' | 'begun'>;

interface ToBegin {
  /** Checked under the lease. @defaultValue it is */
  readonly isDue: (() => boolean) | undefined;
  /** Whether something may have to be done under the lease before it is begun. */
  readonly prepare?: unknown;
  /** Checked under the lease: whether the run can begin at once. @defaultValue it cannot */
  readonly isPrepared?: () => boolean;
}

/**
 * Claims a run and begins it, in one transaction where it can begin at once.
 *
 * @throws DevsError `THREAD_BUSY`, and `WORKSPACE_BUSY` if its folder is another run's now: the claim is given up then.
 */
export async function claimAndBegin(
  threadId: string,
  store: EngineStore,
  { isDue, prepare, isPrepared }: ToBegin,
): Promise<ClaimedDrive> {
  const { runs, threads } = store;
  const find = (claimed: Pick<ActiveLease, 'lease' | 'recovered'>): Found => {
    const { status: statusBefore } = threads.require(threadId);
    const found = { isDue: true, statusBefore, begun: null };
    if (isOver(statusBefore) || isDue?.() === false) return { ...found, isDue: false };
    if (prepare !== undefined && isPrepared?.() !== true) return found;
    return { ...found, begun: beginDrive(claimed, statusBefore, store) };
  };
  const at: { found: Found } = { found: { isDue: false, statusBefore: 'created', begun: null } };
  const claim = (id: string, options?: ClaimOptions): ClaimResult =>
    runs.together(() => {
      const result = runs.claim(id, options);
      if (result.kind === 'claimed') at.found = find(result);
      return result;
    });
  const held = await holdLease(runs, threadId, claim);
  return { ...held, ...at.found };
}

/** The run is driven from here. */
export function beginDrive(
  { lease, recovered }: Pick<ActiveLease, 'lease' | 'recovered'>,
  statusBefore: ThreadStatus,
  { runs }: Pick<EngineStore, 'runs'>,
): Thread {
  // A caller that drives a failed run wants it tried anew, unlike one that goes on after a crash.
  return runs.begin(lease, { recovered, allowsRefused: statusBefore === 'failed' });
}
