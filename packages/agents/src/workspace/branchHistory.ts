import { messageWith, type StepCommits } from './StepCommits.ts';

/** On the last line of the message of a commit that holds a person's changes. */
const ADOPTED_TRAILER = 'Devs-Adopted: ';

/** On the line before it, where agents had left more in the folder: the tree of the folder as the person had it. */
export const FOUND_TRAILER = 'Devs-Found: ';

/** Message of the commit by which earlier releases made what agents had left uncommitted a part of the branch. */
const UNVERIFIED = 'Work in progress, not verified';

export interface BranchCommit {
  readonly sha: string;
  /** `null` for the first commit of a run that began empty. */
  readonly parent: string | null;
  readonly tree: string;
  /** A person's changes are `on-unverified` where they were made beside, or on, what agents had left uncommitted. */
  readonly kind: 'adopted' | 'on-unverified' | 'unverified' | 'other';
}

/** @param found - Tree of the folder, where the commit has another one. */
export const adoptedMessage = (message: string, principal: string, found: string | null = null): string =>
  messageWith(
    `${found === null ? '' : `${FOUND_TRAILER}${found}\n`}${ADOPTED_TRAILER}${principal.replaceAll(/[\s\p{Cc}]+/gu, ' ')}`,
    message,
  );

/** @param message - Its lines, without blank ones at the end. */
export const isAdoption = (message: readonly string[]): boolean =>
  message.at(-1)?.startsWith(ADOPTED_TRAILER) === true;

/** The tree of the folder that an adoption found; `null` where the commit has that tree. */
export function foundTree(message: readonly string[]): string | null {
  const line = message.at(-2) ?? '';
  return line.startsWith(FOUND_TRAILER) ? line.slice(FOUND_TRAILER.length) : null;
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
  return { sha, parent: parent || null, tree, kind: commitKind(message) };
}

function commitKind(message: readonly string[]): BranchCommit['kind'] {
  if (isAdoption(message)) return foundTree(message) === null ? 'adopted' : 'on-unverified';
  return message.length === 1 && message[0] === UNVERIFIED ? 'unverified' : 'other';
}
