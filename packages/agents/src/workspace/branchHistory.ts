import type { StepCommits } from './StepCommits.ts';

/** On the last line of the message of a commit that holds a person's changes. */
export const ADOPTED_TRAILER = 'Devs-Adopted: ';

/** Message of the commit that holds what agents had left uncommitted when a person's changes were adopted. */
export const UNVERIFIED = 'Work in progress, not verified';

export interface BranchCommit {
  readonly sha: string;
  /** `null` for the first commit of a run that began empty. */
  readonly parent: string | null;
  readonly tree: string;
  readonly kind: 'adopted' | 'unverified' | 'other';
}

/** A run's own commits, newest first. */
export async function branchHistory(
  steps: StepCommits,
  tip: string | null,
): Promise<readonly BranchCommit[]> {
  const entries = await steps.history(tip, ['--topo-order', '--format=%H%n%P%n%T%n%B']);
  return entries.map((entry) => commitFrom(entry.trimEnd().split('\n')));
}

function commitFrom([sha = '', parents = '', tree = '', ...message]: readonly string[]): BranchCommit {
  const [parent = ''] = parents.split(' ');
  return { sha, parent: parent || null, tree, kind: kindOf(message) };
}

function kindOf(message: readonly string[]): BranchCommit['kind'] {
  if (message.at(-1)?.startsWith(ADOPTED_TRAILER)) return 'adopted';
  return message.length === 1 && message[0] === UNVERIFIED ? 'unverified' : 'other';
}
