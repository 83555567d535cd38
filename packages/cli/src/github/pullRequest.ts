import { z } from 'zod';
import { quoteWord } from '../flags/commandWords.ts';
import { usageError } from '../usageError.ts';
import { callGh, type GhUser, githubFailed, parseGhJson, unreadable } from './callGh.ts';

/** A remote of the user's repository, and the repository of GitHub behind it. */
export interface PushPlace {
  readonly remote: string;
  readonly url: string;
  /** `owner/repo`, or `host/owner/repo`; `null` for another URL. */
  readonly repository: string | null;
}

const URL_FORM = /^(?:https?|ssh|git):\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/([^/]+)\/([^/]+?)(?:\.git)?\/?$/i;
const SSH_FORM = /^(?:[^@/]+@)?([^/:]+):\/?([^/]+)\/([^/]+?)(?:\.git)?\/?$/;

function repositoryAt(url: string): string | null {
  const [, host = '', owner, name] =
    URL_FORM.exec(url) ?? (url.includes('://') ? null : SSH_FORM.exec(url)) ?? [];
  if (owner === undefined || name === undefined) return null;
  return /^(?:www\.|ssh\.)?github\.com$/i.test(host) ? `${owner}/${name}` : `${host}/${owner}/${name}`;
}

/**
 * Where a branch is pushed to: the remote that is named, else `origin`, else the only one.
 *
 * @throws DevsError `CONFIG_INVALID`
 */
export function pushPlace(remotes: ReadonlyMap<string, string>, named: string | undefined): PushPlace {
  const names = [...remotes.keys()];
  const remote = named ?? (remotes.has('origin') || names.length !== 1 ? 'origin' : (names[0] as string));
  const url = remotes.get(remote);
  if (url !== undefined) return { remote, url, repository: repositoryAt(url) };
  const there = names.length === 0 ? 'It has none.' : `It has ${names.join(', ')}.`;
  throw usageError(
    `The repository of the run has no remote ${JSON.stringify(remote)}. ${there}`,
    'Add it with git remote add origin URL, or name another one with --remote.',
  );
}

/** `owner/repo` or `host/owner/repo`. @throws DevsError `CONFIG_INVALID` */
function repositoryNamed(text: string): string {
  if (/^(?:[a-z0-9.-]+\/)?[a-z0-9][a-z0-9_-]*\/[a-z0-9._-]+$/i.test(text)) return text;
  throw usageError(`${JSON.stringify(text)} is not a repository of GitHub.`, 'Write --repo owner/repo.');
}

export interface PullRequestFlags {
  readonly repo?: string;
  readonly base?: string;
}

/** Where a pull request is opened, and from where. */
export interface PullRequestPlace {
  /** As `gh` takes it. */
  readonly repository: string;
  readonly base: string;
  readonly headOwner: string;
  /** `branch`, or `owner:branch` of a fork. */
  readonly head: string;
}

const repositorySchema = z.object({
  nameWithOwner: z.string(),
  isArchived: z.boolean().nullish(),
  isFork: z.boolean().nullish(),
  parent: z.object({ name: z.string(), owner: z.object({ login: z.string() }) }).nullish(),
  defaultBranchRef: z.object({ name: z.string() }).nullish(),
  viewerPermission: z.string().nullish(),
});

const REPOSITORY_FIELDS = Object.keys(repositorySchema.shape).join(',');

type Repository = Readonly<z.infer<typeof repositorySchema>>;

/** @throws DevsError `GITHUB_FAILED`, also for an archive, which takes neither branches nor requests. */
async function viewRepository(name: string, session: GhUser): Promise<Repository> {
  const printed = await callGh(['repo', 'view', name, '--json', REPOSITORY_FIELDS], session);
  const parsed = repositorySchema.safeParse(parseGhJson(printed, `the repository ${name}`));
  if (!parsed.success) throw unreadable(`the repository ${name}`, parsed.error);
  if (!parsed.data.isArchived) return parsed.data;
  throw githubFailed(
    `${parsed.data.nameWithOwner} is archived.`,
    'Name another repository with --repo or --remote.',
  );
}

/**
 * Asks GitHub for both repositories before the push: for the login, its right to push, and the parent of a fork.
 *
 * @throws DevsError `GITHUB_FAILED`; `CONFIG_INVALID`
 */
export async function pullRequestPlace(
  push: PushPlace,
  branch: string,
  { repo, base }: PullRequestFlags,
  session: GhUser,
): Promise<PullRequestPlace> {
  const named = repo === undefined ? null : repositoryNamed(repo);
  const from = push.repository ?? named;
  if (from === null) throw noRepository(push);
  const pushed = await viewRepository(from, session);
  if (/^(?:READ|TRIAGE)$/.test(pushed.viewerPermission ?? '')) throw mayNotPush(pushed.nameWithOwner);
  const to = named ?? parentOf(from, pushed) ?? from;
  const target = to.toLowerCase() === from.toLowerCase() ? pushed : await viewRepository(to, session);
  const [headOwner = ''] = pushed.nameWithOwner.split('/');
  const isFork = target.nameWithOwner !== pushed.nameWithOwner;
  const head = isFork ? `${headOwner}:${branch}` : branch;
  return { repository: to, base: base ?? defaultBranch(target), headOwner, head };
}

/** Of a repository that takes requests. */
function defaultBranch({ nameWithOwner, defaultBranchRef }: Repository): string {
  if (defaultBranchRef != null) return defaultBranchRef.name;
  throw githubFailed(`${nameWithOwner} has no branch yet.`, 'Push its main branch first.');
}

/** On the same host. */
function parentOf(from: string, { isFork, parent }: Repository): string | null {
  if (!isFork || parent == null) return null;
  const host = from.split('/').slice(0, -2);
  return [...host, parent.owner.login, parent.name].join('/');
}

const noRepository = ({ remote }: PushPlace) =>
  usageError(
    `The URL of the remote ${remote} does not name a repository of GitHub.`,
    'Name the repository with --repo owner/repo.',
  );

const mayNotPush = (repository: string) =>
  githubFailed(
    `Your login may not push to ${repository}.`,
    'Fork it with gh repo fork --remote, then name the remote of your fork with --remote. Or ask for write access.',
  );

const listSchema = z.array(
  z.object({
    number: z.int(),
    url: z.string(),
    state: z.string(),
    body: z.string().nullish(),
    headRefOid: z.string().nullish(),
    headRepositoryOwner: z.object({ login: z.string() }).nullish(),
  }),
);

export type PullRequest = Readonly<z.infer<typeof listSchema>[number]>;

/** Every pull request that was opened from this branch: open, merged or closed. */
async function pullRequestsOf(
  { repository, headOwner }: PullRequestPlace,
  branch: string,
  session: GhUser,
): Promise<readonly PullRequest[]> {
  const fields = Object.keys(listSchema.element.shape).join(',');
  const which = ['--repo', repository, '--head', branch, '--state', 'all', '--limit', '100'];
  const printed = await callGh(['pr', 'list', ...which, '--json', fields], session);
  const parsed = listSchema.safeParse(parseGhJson(printed, 'the pull requests'));
  if (!parsed.success) throw unreadable('the pull requests', parsed.error);
  // Another fork may have a branch of this name.
  const isOurs = (owner: string | undefined): boolean =>
    owner === undefined || owner.toLowerCase() === headOwner.toLowerCase();
  return parsed.data.filter(({ headRepositoryOwner }) => isOurs(headRepositoryOwner?.login));
}

/** The pull request of a branch: `merged` for one that has all of its commits. */
export type Standing =
  | { readonly is: 'none' }
  | { readonly is: 'open' | 'merged'; readonly request: PullRequest };

/** @throws DevsError `GITHUB_FAILED` where a person has closed it. */
export async function standingOf(
  place: PullRequestPlace,
  { branch, commit }: { readonly branch: string; readonly commit: string },
  session: GhUser,
): Promise<Standing> {
  const all = await pullRequestsOf(place, branch, session);
  const open = all.find(({ state }) => state === 'OPEN');
  if (open !== undefined) return { is: 'open', request: open };
  const [last] = all.toSorted((a, b) => b.number - a.number);
  if (last === undefined) return { is: 'none' };
  if (last.state === 'MERGED') {
    return last.headRefOid === commit ? { is: 'merged', request: last } : { is: 'none' };
  }
  throw githubFailed(
    `The pull request of this run was closed: ${last.url}`,
    `To go on with it: gh pr reopen ${last.number} --repo ${place.repository}, then run the command again.`,
  );
}

/** A call that changes something on GitHub. */
export interface Change {
  readonly args: readonly string[];
  /** On stdin: an argument has a limit. */
  readonly body: string;
}

export const opening = (
  { repository, base, head }: PullRequestPlace,
  { title, body, draft }: { readonly title: string; readonly body: string; readonly draft: boolean },
): Change => ({
  args: [
    ...['pr', 'create', '--repo', repository, '--head', head, '--base', base],
    ...['--title', title, '--body-file', '-', ...(draft ? ['--draft'] : [])],
  ],
  body,
});

/** Not with `gh pr edit`, which asks for projects as well and fails where they are gone. */
export function updating(
  { repository }: PullRequestPlace,
  { number }: PullRequest,
  { body, base }: { readonly body: string; readonly base: string | undefined },
): Change {
  const [name = '', owner = '', host] = repository.split('/').reverse();
  const at = host === undefined ? [] : ['--hostname', host];
  const into = base === undefined ? [] : ['--raw-field', `base=${base}`];
  const path = `repos/${owner}/${name}/pulls/${number}`;
  return { args: ['api', ...at, '--method', 'PATCH', path, '--field', 'body=@-', ...into], body };
}

export const commandLine = ({ args }: Change): string => ['gh', ...args].map(quoteWord).join(' ');

export const makeChange = ({ args, body }: Change, session: GhUser): Promise<string> =>
  callGh(args, session, body);
