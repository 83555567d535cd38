import { DevsError } from '@devs/core';
import { findRunNamed } from '../gates/resolveGate.ts';
import { hasRuns, withRuns } from '../project/openProject.ts';
import type { Session } from '../project/Session.ts';
import { usageError } from '../usageError.ts';
import { ISSUE_KEY, type IssueName, readIssue } from './issueBrief.ts';

export interface IssueFlags {
  readonly id?: string;
  readonly message?: string;
  readonly metadata?: readonly string[];
  readonly allComments?: true;
}

export const ALL_COMMENTS_HELP =
  'with an issue: also comments of people who are not owner, member or collaborator';

/** The arguments of a run of an issue. */
export interface IssueRun {
  readonly id: string;
  /** `null` for a run that goes on with the brief it was started with. */
  readonly brief: string | null;
  /** In the form of the option, with that of the issue. */
  readonly metadata: readonly string[];
}

/**
 * Reads the issue of a run that is to begin. For a run that is there GitHub is not asked: it goes on.
 *
 * @throws DevsError `GITHUB_FAILED`; `THREAD_EXISTS` where the run is another one's; `CONFIG_INVALID`.
 */
export async function issueRun(issue: IssueName, flags: IssueFlags, session: Session): Promise<IssueRun> {
  if (flags.message !== undefined) {
    throw usageError('The brief is given twice: as an issue and as --message.', 'Remove one of them.');
  }
  const { id = issue.runId, metadata = [], allComments } = flags;
  const asked = { id, metadata: [...metadata, `${ISSUE_KEY}=${issue.text}`] };
  if (await isStarted(id, issue, session)) {
    session.out.note(`${id} was started from ${issue.text} as it was then; later changes are not part of it`);
    return { ...asked, brief: null };
  }
  const { brief, notes } = await readIssue(issue, { allComments }, session);
  for (const note of notes) session.out.note(note);
  return { ...asked, brief };
}

async function isStarted(id: string, { text }: IssueName, session: Session): Promise<boolean> {
  if (!hasRuns(session)) return false;
  const metadata = await withRuns(session, async (devs) => {
    const run = await findRunNamed(id, devs);
    return run === null ? null : (await run.status()).metadata;
  });
  if (metadata === null) return false;
  if (metadata[ISSUE_KEY] === text) return true;
  throw new DevsError(`Run "${id}" was not started from ${text}.`, {
    code: 'THREAD_EXISTS',
    remedy: 'Start the run of the issue with another id: --id.',
    context: { threadId: id },
  });
}
