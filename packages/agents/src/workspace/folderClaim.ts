import { DevsError, type Driver } from '@devs/core';
import type { GitRepository } from './GitRepository.ts';
import { moveRefs, type RefGuard, readRef } from './refs.ts';

/** Points to a blob that says whose folder is the run's. It moves before anything else does: the epoch of the store. */
const CLAIM = 'refs/devs/claim';

/** Who works on a run, and where. */
export interface FolderClaim {
  readonly epoch: number;
  /** Name of the folder. */
  readonly folder: string;
  /** Name of the folder it was made from; `null` for the first. */
  readonly from: string | null;
  /** Process of the driver, see `Driver.holder`; `null` once it has left. */
  readonly holder: string | null;
}

/** A claim as it was read; `null` before any driver had the run. */
export interface KnownClaim {
  readonly claim: FolderClaim | null;
  /** Holds as long as nobody else has claimed the run. */
  readonly guard: RefGuard;
}

export async function readClaim(git: GitRepository): Promise<KnownClaim> {
  const blob = await readRef(git, CLAIM);
  const claim = blob === null ? null : (JSON.parse(await git.run(['cat-file', 'blob', blob])) as FolderClaim);
  return { claim, guard: { name: CLAIM, value: blob } };
}

/**
 * Replaces a claim by another one; from then on whoever holds the former moves no ref.
 *
 * @throws DevsError `LEASE_LOST` if it is not the claim any more.
 */
export async function writeClaim(
  git: GitRepository,
  { guard }: KnownClaim,
  claim: FolderClaim,
): Promise<KnownClaim> {
  const blob = (await git.run(['hash-object', '-w', '--stdin'], { stdin: JSON.stringify(claim) })).trim();
  await moveRefs(git, [{ name: CLAIM, from: guard.value, to: blob }]).catch(async (error: unknown) => {
    const { claim: now } = await readClaim(git);
    if (now !== null && now.epoch >= claim.epoch) throw replaced(claim.epoch, now.epoch);
    throw error;
  });
  return { claim, guard: { name: CLAIM, value: blob } };
}

/** @throws DevsError `LEASE_LOST` for a driver whose run another one has taken over. */
export function refuseReplaced(claim: FolderClaim | null, { epoch }: Pick<Driver, 'epoch'>): void {
  if (claim !== null && claim.epoch > epoch) throw replaced(epoch, claim.epoch);
}

function replaced(epoch: number, now: number): DevsError {
  return new DevsError(
    `The folder of the run is the driver's of epoch ${now}, and this one is of epoch ${epoch}.`,
    {
      code: 'LEASE_LOST',
      remedy: 'Let the driver that holds the run go on, or drive it again.',
      context: { epoch },
    },
  );
}
