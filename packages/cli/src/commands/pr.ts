import { GitWorkspace } from '@devs/agents';
import { DevsError, isDevsError } from '@devs/core';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { quoteWord } from '../flags/commandWords.ts';
import { repositoryFor } from '../flags/runSpec.ts';
import { githubFailed } from '../github/callGh.ts';
import {
  commandLine,
  makeChange,
  opening,
  type PullRequestFlags,
  type PullRequestPlace,
  type PushPlace,
  pullRequestPlace,
  pushPlace,
  type Standing,
  standingOf,
  updating,
} from '../github/pullRequest.ts';
import { bodyWith, pullRequestTitle, type ReviewedRun, reviewMarkdown } from '../github/pullRequestBody.ts';
import { withRuns } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { maskAsRecorded, specOf } from '../project/specOf.ts';
import { wholeLog } from '../project/wholeLog.ts';
import { usageError } from '../usageError.ts';

interface PrFlags extends PullRequestFlags {
  readonly draft?: true;
  readonly remote?: string;
  readonly dryRun?: true;
}

export function addPr(program: Command, start: Start): void {
  program
    .command('pr')
    .description('push the branch of a run and open a pull request with its review, or update it; uses gh')
    .argument('<id>', 'run')
    .option('--draft', 'open it as a draft')
    .option('--base <branch>', 'branch to merge into (default: the default branch of the repository)')
    .option('--remote <name>', 'remote to push to (default: origin)')
    .option(
      '--repo <owner/repo>',
      'repository of the pull request (default: that of the remote; of a fork, its parent)',
    )
    .option('--dry-run', 'print title, body and commands; push and change nothing')
    .addHelpText(
      'after',
      examples(
        'devs pr csv-export --dry-run',
        'devs pr csv-export',
        'devs pr csv-export --draft --base develop',
        'devs pr csv-export --remote fork --repo acme/app',
        'devs pr csv-export --json',
      ),
    )
    .action((id: string, flags: PrFlags, command: Command) =>
      start(command, (session) => pr(id, flags, session)),
    );
}

/** Pushes after GitHub has answered each question that could keep the request from being made. */
async function pr(id: string, flags: PrFlags, session: Session): Promise<ExitCode> {
  if (session.cluster !== null) throw runElsewhere(id);
  const spec = await specOf(id, {}, session);
  const workspace = new GitWorkspace({ dir: session.dir, ...repositoryFor(spec) });
  const commit = await workspace.tip(id);
  if (commit === null) throw nothingToPush(id, session);
  const run = await reviewedRun(id, commit, session);
  const push = pushPlace(await workspace.remotes(), flags.remote);
  const branch = `devs/${id}`;
  const place = await pullRequestPlace(push, branch, flags, session);
  if (place.base === branch) throw usageError(`${branch} is the branch of the run.`, 'Name another --base.');
  const asked: AskedRequest = { id, run, branch, commit, push, place, flags };
  const standing = await standingOf(place, asked, session);
  if (standing.is === 'merged') return tell(asked, standing.request, 'merged', session);
  if (flags.dryRun) return printPlan(asked, standing, session);
  const pushed = await workspace
    .push(id, { commit, url: push.url, ...answering(push, session) })
    .catch((error: unknown) => Promise.reject(loginRefused(push, error) ?? error));
  if (pushed.held !== null) throw branchHeld(asked);
  return openOrUpdate(asked, standing, session);
}

interface AskedRequest {
  readonly id: string;
  readonly run: ReviewedRun;
  readonly branch: string;
  readonly commit: string;
  readonly push: PushPlace;
  readonly place: PullRequestPlace;
  readonly flags: PrFlags;
}

const reviewedRun = (id: string, commit: string, session: Session): Promise<ReviewedRun> =>
  withRuns(session, async (devs) => {
    const run = await devs.run(id);
    await maskAsRecorded(run);
    const log = await wholeLog(run);
    return {
      status: await run.status(),
      state: await run.state(),
      closedGates: await run.closedGates(),
      decisions: log.filter(({ name }) => name === 'HITL_SESSION_DECIDED'),
      commit,
    };
  });

const isHttps = ({ url }: PushPlace): boolean => /^https:/i.test(url);

/** Over HTTPS the push uses the login of `gh`, which is in its folder or in the environment. */
function answering(push: PushPlace, { io }: Session) {
  if (!isHttps(push)) return {};
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(io.env)) {
    if (value !== undefined && /^(?:GH_|GITHUB_(?:ENTERPRISE_)?TOKEN$|XDG_CONFIG_HOME$)/.test(name))
      env[name] = value;
  }
  return { answering: { settings: ['credential.helper=!gh auth git-credential'], env } };
}

function changeFor({ id, run, place, flags }: AskedRequest, standing: Standing) {
  const review = reviewMarkdown(run);
  if (standing.is === 'none') {
    const title = pullRequestTitle(run.status);
    return opening(place, { title, body: bodyWith('', review, id), draft: flags.draft === true });
  }
  const { request } = standing;
  return updating(place, request, { body: bodyWith(request.body ?? '', review, id), base: flags.base });
}

function printPlan(asked: AskedRequest, standing: Standing, { out }: Session): ExitCode {
  const { id, run, branch, commit, push } = asked;
  const change = changeFor(asked, standing);
  const title = standing.is === 'none' ? pullRequestTitle(run.status) : null;
  const pushing = ['git', 'push', push.url, `${commit}:refs/heads/${branch}`].map(quoteWord).join(' ');
  const commands = [pushing, commandLine(change)];
  out.result({ id, run: id, dryRun: true, title, body: change.body, commands }, [
    ...(title === null ? ['the title stays as it is'] : [{ style: 'bold', text: title } as const]),
    '',
    change.body,
    '',
    ...commands,
  ]);
  return EXIT.ok;
}

async function openOrUpdate(asked: AskedRequest, standing: Standing, session: Session): Promise<ExitCode> {
  const change = changeFor(asked, standing);
  if (standing.is !== 'none') {
    if (asked.flags.draft) session.out.note('--draft was ignored: the pull request is there');
    await makeChange(change, session);
    return tell(asked, standing.request, 'updated', session);
  }
  const printed = await makeChange(change, session).catch(async (error: unknown) => {
    // Another process may have been first: GitHub refuses a second one.
    const now = isDevsError(error, 'GITHUB_FAILED')
      ? await standingOf(asked.place, asked, session)
      : standing;
    if (now.is === 'open') return now;
    throw error;
  });
  if (typeof printed !== 'string') return openOrUpdate(asked, printed, session);
  const [url, number] = /https?:\/\/\S+\/pull\/(\d+)/.exec(printed) ?? [];
  if (url !== undefined) return tell(asked, { number: Number(number), url }, 'opened', session);
  throw githubFailed(
    'gh did not print the pull request that it opened.',
    'Run the command again: it finds it.',
  );
}

function tell(
  { id, branch, commit, place }: AskedRequest,
  { number, url }: { readonly number: number; readonly url: string },
  state: 'opened' | 'updated' | 'merged',
  { out }: Session,
): ExitCode {
  const words = state === 'merged' ? 'already merged, nothing was pushed' : state;
  const { repository, base } = place;
  out.result({ id, run: id, pullRequest: { number, url, state }, repository, branch, commit, base }, [
    `pull request ${words}: ${url}`,
  ]);
  return EXIT.ok;
}

const runElsewhere = (id: string): DevsError =>
  new DevsError(`Run "${id}" is not in a local state file, which pr needs.`, {
    code: 'RUN_ELSEWHERE',
    remedy: 'Fetch the run with devs pull, then run the command again.',
    context: { threadId: id },
  });

const nothingToPush = (id: string, { devs }: Session): DevsError =>
  usageError(`Run "${id}" has no commits.`, `Let it go on until a task is done: ${devs('resume', id)}`);

/** `null` for another error than that of git without a login that counts there. */
function loginRefused(push: PushPlace, error: unknown): DevsError | null {
  if (!isHttps(push) || !isDevsError(error, 'WORKSPACE_FAILED')) return null;
  if (!/Authentication failed|terminal prompts disabled|returned error: 403/.test(error.message)) return null;
  const { hostname } = new URL(push.url);
  return githubFailed(
    `The login of gh does not let git push to ${hostname}: ${error.message}`,
    `Run gh auth login --hostname ${hostname} as a user with the right to push, then run the command again. Nothing was pushed.`,
    error,
  );
}

const branchHeld = ({ branch, push }: AskedRequest): DevsError =>
  githubFailed(
    `The branch ${branch} of ${push.remote} has commits that are not those of the run. Nothing was pushed.`,
    'Merge or move them, remove that branch, then run the command again.',
  );
