import { GitWorkspace } from '@devs/agents';
import type { FilteredFile } from '@devs/agents/internal';
import { quoteWord } from '../flags/commandWords.ts';
import { gitAuthor } from '../flags/gitAuthor.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import type { RunSpec } from '../flags/runSpec.ts';
import { gitFacts } from '../init/gitFacts.ts';
import { usageError } from '../usageError.ts';
import type { Session } from './Session.ts';

/**
 * The specification of a run that begins with the uncommitted changes of the checkout.
 *
 * @throws DevsError `CONFIG_INVALID` for a run without a repository, or where git does not know who signs.
 */
export async function takingChanges(spec: RunSpec, { dir }: Session): Promise<RunSpec> {
  if (spec.repository === null) {
    throw usageError('--with-changes needs a repository, and this run has none.', 'Remove --with-changes.');
  }
  const author = await gitAuthor(undefined, dir);
  return { ...spec, withChanges: { author, principal: `human:${humanFrom(undefined).id}` } };
}

/** Says what a run that is about to begin leaves out of the checkout, or has otherwise. */
export async function tellLeftOut(
  { repository, withChanges }: RunSpec,
  { dir, out }: Session,
): Promise<void> {
  if (repository === null) return;
  const workspace = new GitWorkspace({ dir, repository });
  if (repository === dir && !(await gitFacts(dir)).hasCommit) {
    out.note(
      'the repository has no commit yet: the run starts with an empty folder; to include your files, commit them first',
    );
  }
  tellFilters(await workspace.filtered(), out);
  if (withChanges !== undefined) return;
  const { changed, unknown } = await workspace.uncommitted();
  tellUnknown(unknown, out);
  const count = changed.length;
  if (count === 0) return;
  const files = count === 1 ? '1 file is' : `${count} files are`;
  out.note(`${files} not committed and not part of the run; to include ${them(changed)}, use --with-changes`);
}

/** Says that what was mended and not committed is not seen: a run has commits of the user, and nothing else of theirs. */
export async function tellUncommitted(repository: string | null, { dir, out }: Session): Promise<void> {
  if (repository === null) return;
  const { changed, unknown } = await new GitWorkspace({ dir, repository }).uncommitted();
  tellUnknown(unknown, out);
  const count = changed.length;
  if (count === 0) return;
  const files = count === 1 ? '1 file of your checkout is' : `${count} files of your checkout are`;
  out.note(
    `${files} not committed, and the checks cannot see ${them(changed)}: commit your fixes before you resume the run`,
  );
}

function tellFilters(files: readonly FilteredFile[], out: Session['out']): void {
  if (files.length === 0) return;
  const isLfs = files.some(({ filter }) => filter === 'lfs');
  const what = isLfs ? ' (for Git LFS, the content if your clone or setup has fetched it)' : '';
  out.note(`${throughFilters(files)}: the run uses the content that git stores${what}`);
}

function tellUnknown(files: readonly FilteredFile[], out: Session['out']): void {
  if (files.length === 0) return;
  const have = files.length === 1 ? 'it has' : 'they have';
  out.note(`${throughFilters(files)}: devs cannot tell if ${have} changed; check with git status`);
}

function throughFilters(files: readonly FilteredFile[]): string {
  const filters = [...new Set(files.map(({ filter }) => filter))].toSorted().map(quoteWord).join(', ');
  const go = files.length === 1 ? '1 file uses' : `${files.length} files use`;
  return `${go} a git filter that is not run (${filters})`;
}

const them = ({ length }: { readonly length: number }): string => (length === 1 ? 'it' : 'them');
