import { GitWorkspace } from '@devs/agents';
import { gitAuthor } from '../flags/gitAuthor.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import type { RunSpec } from '../flags/runSpec.ts';
import { usageError } from '../usageError.ts';
import type { Session } from './Session.ts';

/**
 * The specification of a run that begins with the uncommitted changes of the checkout.
 *
 * @throws DevsError `CONFIG_INVALID` for a run without a repository, or where git does not know who signs.
 */
export async function takingChanges(spec: RunSpec, { dir }: Session): Promise<RunSpec> {
  if (spec.repository === null) {
    throw usageError('--with-changes needs a repository, and this run begins empty.', 'Leave it out.');
  }
  const author = await gitAuthor(undefined, dir);
  return { ...spec, withChanges: { author, principal: `human:${humanFrom(undefined).id}` } };
}

/** Says how many changes a run that is about to begin leaves out. */
export async function tellLeftOut(
  { repository, withChanges }: RunSpec,
  { dir, out }: Session,
): Promise<void> {
  if (repository === null || withChanges !== undefined) return;
  const count = await new GitWorkspace({ dir, repository }).uncommitted();
  if (count === 0) return;
  const [files, them] = count === 1 ? ['1 file is', 'it'] : [`${count} files are`, 'them'];
  out.note(`${files} not committed and not part of the run; --with-changes takes ${them} along`);
}

/** Says that what was mended and not committed is not seen: a run has commits of the user, and nothing else of theirs. */
export async function tellUncommitted(repository: string | null, { dir, out }: Session): Promise<void> {
  if (repository === null) return;
  const count = await new GitWorkspace({ dir, repository }).uncommitted();
  if (count === 0) return;
  const files = count === 1 ? '1 file of your checkout is' : `${count} files of your checkout are`;
  out.note(
    `${files} not committed: the checks do not see them; commit what you mended before the run goes on`,
  );
}
