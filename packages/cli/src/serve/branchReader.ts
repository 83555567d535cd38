import type { GitWorkspace } from '@devs/agents';
import type { UiOptions } from '@devs/ui';
import { parseSpec, repositoryFor } from '../flags/runSpec.ts';
import { pushPlace } from '../github/pullRequest.ts';
import { withView } from '../project/openProject.ts';
import type { Session } from '../project/Session.ts';
import { repositoryIn } from '../project/specOf.ts';

type ReadBranch = NonNullable<UiOptions['readBranch']>;
type Branch = Awaited<ReturnType<ReadBranch>>;

/** A page asks with each change of a run: git is asked once in this time, in milliseconds. */
const FRESH_MS = 1_000;

/** Reads the branch of a run in the user's repository; `null` before its commits are on it, and for a repository at a URL. */
export function branchReader(session: Session, now: () => number = Date.now): ReadBranch {
  const known = new Map<string, { readonly at: number; readonly branch: Promise<Branch> }>();
  return (run) => {
    const last = known.get(run);
    if (last !== undefined && now() - last.at < FRESH_MS) return last.branch;
    const branch = readBranch(run, session);
    known.set(run, { at: now(), branch });
    return branch;
  };
}

async function readBranch(run: string, session: Session): Promise<Branch> {
  const { dir } = session;
  const spec = parseSpec(await withView(session, async (devs) => (await devs.run(run)).agentsRef()));
  if (spec === null) return null;
  const repository = repositoryIn(dir, spec);
  const agents = await import('@devs/agents');
  const workspace = new agents.GitWorkspace({ dir, ...repositoryFor({ ...spec, repository }) });
  const name = await workspace.deliveredBranch(run);
  if (name === null) return null;
  const isOnGitHub = await canOpenPullRequest(workspace);
  return { name, merge: isOnGitHub ? session.devs('pr', run) : `git merge ${name}` };
}

/** Whether `devs pr` has a repository of GitHub to push to. */
async function canOpenPullRequest(workspace: GitWorkspace): Promise<boolean> {
  const remotes = await workspace.remotes();
  if (!remotes.has('origin') && remotes.size !== 1) return false;
  return /^[^/]+\/[^/]+$/.test(pushPlace(remotes, undefined).repository ?? '');
}
