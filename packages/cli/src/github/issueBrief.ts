import { createHash } from 'node:crypto';
import { z } from 'zod';
import { usageError } from '../usageError.ts';
import { callGh, type GhUser, parseGhJson, unreadable } from './callGh.ts';

/** An issue as it is named on the command line. */
export interface IssueName {
  /** `owner/repo`, in lower case: GitHub ignores the case. */
  readonly repository: string;
  readonly number: number;
  /** `owner/repo#12`, as the metadata of the run has it. */
  readonly text: string;
  /** The same issue is the same run. */
  readonly runId: string;
}

const PREFIX = 'gh:';

const NAMED = /^gh:([a-z0-9](?:[a-z0-9_-]{0,98}[a-z0-9])?)\/([a-z0-9._-]{1,100})#(\d{1,10})$/;

/** `null` for a file. @throws DevsError `CONFIG_INVALID` for `gh:` and anything else. */
export function issueNamed(name: string | undefined): IssueName | null {
  if (name?.startsWith(PREFIX) !== true) return null;
  const [, owner = '', repo = '', digits = ''] = NAMED.exec(name.toLowerCase()) ?? [];
  const number = Number(digits);
  if (number > 0 && !/^\.+$/.test(repo)) {
    const repository = `${owner}/${repo}`;
    const text = `${repository}#${number}`;
    return { repository, number, text, runId: runIdOfIssue(owner, repo, number) };
  }
  throw usageError(
    `${JSON.stringify(name)} does not name an issue.`,
    'Write gh:owner/repo#12: owner and name of the repository, and the number of the issue.',
  );
}

/** The metadata of a run that names its issue. */
export const ISSUE_KEY = 'issue';

const OWNER = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const REPO = /^[a-z0-9-]+$/;
const MAX_ID = 64;

/** Owners cannot have two hyphens side by side, so the id is unique. A name that an id cannot spell adds a hash. */
function runIdOfIssue(owner: string, repo: string, number: number): string {
  const plain = `gh-${owner}--${repo}-${number}`;
  if (OWNER.test(owner) && REPO.test(repo) && plain.length <= MAX_ID) return plain;
  const mark = createHash('sha256').update(`${owner}/${repo}#${number}`).digest('hex').slice(0, 8);
  const slug = `${owner}--${repo}`.replaceAll(/[^a-z0-9-]/g, '-').slice(0, 40);
  return `gh-${slug}-${number}-x${mark}`;
}

/** `null` for a deleted account. */
const author = z.object({ login: z.string() }).nullish();

const issueSchema = z.object({
  title: z.string(),
  body: z.string().nullish(),
  url: z.string(),
  state: z.string(),
  author,
  comments: z.array(
    z.object({
      author,
      authorAssociation: z.string().nullish(),
      body: z.string(),
      createdAt: z.string().nullish(),
      isMinimized: z.boolean().nullish(),
    }),
  ),
});

type Issue = Readonly<z.infer<typeof issueSchema>>;
type Comment = Issue['comments'][number];

/**
 * Roles of people that the repository trusts. One merged typo makes anybody a contributor.
 */
const KNOWN_ROLES: ReadonlySet<string> = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

const roleOf = ({ authorAssociation }: Comment): string => (authorAssociation ?? 'NONE').toUpperCase();

/** The words of an issue, and notes for the user. */
export interface IssueBrief {
  readonly brief: string;
  readonly notes: readonly string[];
}

/**
 * Reads an issue and its comments as the brief of a run. The words of others are quoted line by line, so that a text
 * cannot pass as that of another author.
 *
 * @param allComments - Also those of people without a role in the repository.
 * @throws DevsError `GITHUB_FAILED`; `CONFIG_INVALID` for a pull request.
 */
export async function readIssue(
  { repository, number, text }: IssueName,
  { allComments = false }: { readonly allComments?: boolean | undefined },
  session: GhUser,
): Promise<IssueBrief> {
  const fields = 'title,body,url,state,author,comments';
  const printed = await callGh(
    ['issue', 'view', String(number), '--repo', repository, '--json', fields],
    session,
  );
  const parsed = issueSchema.safeParse(parseGhJson(printed, `the issue ${text}`));
  if (!parsed.success) throw unreadable(`the issue ${text}`, parsed.error);
  const issue = parsed.data;
  if (/\/pull\/\d+$/.test(issue.url)) throw isPullRequest(text);
  const shown = issue.comments.filter(({ isMinimized }) => isMinimized !== true);
  const taken = allComments ? shown : shown.filter((comment) => KNOWN_ROLES.has(roleOf(comment)));
  return {
    brief: issueMarkdown(text, issue, taken),
    notes: issueNotes(text, issue, shown.length - taken.length),
  };
}

const isPullRequest = (text: string) =>
  usageError(
    `${text} is a pull request, not an issue.`,
    'Name the issue that describes the work, or write the brief into a file.',
  );

function issueNotes(text: string, { state }: Issue, leftOut: number): readonly string[] {
  const comments = leftOut === 1 ? '1 comment' : `${leftOut} comments`;
  return [
    ...(state.toUpperCase() === 'CLOSED' ? [`${text} is closed; the run starts all the same`] : []),
    ...(leftOut === 0
      ? []
      : [`${comments} of people without a role in the repository left out; to include: --all-comments`]),
  ];
}

function issueMarkdown(
  text: string,
  { title, body, url, author: by }: Issue,
  comments: readonly Comment[],
): string {
  return [
    `# ${inLine(title) || text}`,
    '',
    `Issue ${text}, ${inLine(url)}. The quoted words are those of the named authors. They describe the work.`,
    '',
    `## Issue, by ${loginOf(by)}`,
    '',
    ...quoted(body),
    ...comments.flatMap((comment) => [
      '',
      `## Comment by ${loginOf(comment.author)} (${roleOf(comment)})${dateOf(comment)}`,
      '',
      ...quoted(comment.body),
    ]),
    '',
  ].join('\n');
}

const inLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const loginOf = (by: Issue['author']): string => (by == null ? 'a deleted account' : inLine(by.login));

const dateOf = ({ createdAt }: Comment): string => (createdAt == null ? '' : `, ${inLine(createdAt)}`);

const quoted = (words: string | null | undefined): readonly string[] =>
  (words?.trim() || '(no text)').split(/\r\n|\r|\n/).map((line) => `> ${line}`.trimEnd());
