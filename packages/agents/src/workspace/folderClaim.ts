import type { GitRepository } from './GitRepository.ts';
import { looseObject } from './looseObject.ts';
import { CLAIM, folderTakenOver, moveRefs, type RefGuard, readRef } from './refs.ts';

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
  const claim = blob === null ? null : (JSON.parse(await readBlobText(git, blob)) as FolderClaim);
  return { claim, guard: { name: CLAIM, value: blob } };
}

async function readBlobText(git: GitRepository, blob: string): Promise<string> {
  const loose = await looseObject(git.gitDir, blob);
  return loose?.content.toString('utf8') ?? git.run(['cat-file', 'blob', blob]);
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
    throw (await readRef(git, CLAIM)) === guard.value ? error : folderTakenOver(error);
  });
  return { claim, guard: { name: CLAIM, value: blob } };
}
