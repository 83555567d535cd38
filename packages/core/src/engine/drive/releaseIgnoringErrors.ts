import type { Lease } from '../../state/threadRecords.ts';
import type { DriverDeps } from './DriverDeps.ts';

/** What is not let go of costs the next driver time and nothing else: the drive has ended as it has. */
export async function releaseIgnoringErrors(
  lease: Lease,
  { leave, store }: Pick<DriverDeps, 'leave' | 'store'>,
): Promise<void> {
  await leave?.(lease, store).catch(() => undefined);
}
