import { GitWorkspace } from '@devs/agents';
import { DevsError, isDevsError, type Orchestrator, type Run } from '@devs/core';
import { ENDED_STATUSES } from '@devs/core/internal';
import type { Command } from 'commander';
import { REPOSITORY_URL } from '../config/ProjectConfig.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import { toMilliseconds } from '../flags/optionValues.ts';
import { parseSpec, repositoryFor } from '../flags/runSpec.ts';
import { withAdmin } from '../project/openCluster.ts';
import { withRuns } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { repositoryIn } from '../project/specOf.ts';
import { usageError } from '../usageError.ts';

interface RmOptions {
  readonly force?: boolean;
  readonly by?: string;
  readonly ended?: true;
  readonly olderThan?: string;
  readonly tenant?: string;
}

export function addRm(program: Command, start: Start): void {
  program
    .command('rm')
    .description('remove a run that has ended: its record, its folder, and its branch if it is merged')
    .argument('[id]', 'run')
    .option('--ended', 'remove all runs that ended longer ago than --older-than')
    .option('--older-than <time>', 'with --ended: time since their end, such as 30d or 12h')
    .option('--tenant <name>', 'with --ended: only runs of this tenant, in a cluster')
    .option(
      '--force',
      'remove it even if it has not ended, its branch is not merged, or its work exists nowhere else',
    )
    .option('--by <name>', 'your name for the record (default: your user name)')
    .addHelpText(
      'after',
      examples('devs rm csv-export', 'devs rm csv-export --force', 'devs rm --ended --older-than 30d'),
    )
    .action((id: string | undefined, options: RmOptions, command: Command) =>
      start(command, (session) => {
        if (options.ended === true) return rmEnded(id, options, session);
        if (options.olderThan === undefined && options.tenant === undefined && id !== undefined)
          return rm(id, options, session);
        throw usageError(
          id === undefined ? 'The run is missing.' : '--older-than and --tenant are options of --ended.',
          'Name a run, or remove several with --ended --older-than 30d.',
        );
      }),
    );
}

type Removal = Parameters<Orchestrator['remove']>[1];

async function rm(id: string, { force = false, by }: RmOptions, session: Session): Promise<ExitCode> {
  const removal = { by: humanFrom(by), force };
  const removed = await withRuns(session, async (devs) => {
    if (session.cluster === null) return removeHere(devs, id, removal, session);
    if (!force) await devs.view(id, assertElsewhere);
    return devs.remove(id, removal);
  });
  session.out.result(removed, [session.cluster === null ? formatRemoved(removed) : wordsElsewhere(removed)]);
  return EXIT.ok;
}

/** Many runs: those that must not go are kept, and counted. */
async function rmEnded(
  id: string | undefined,
  { force = false, by, olderThan, tenant }: RmOptions,
  session: Session,
): Promise<ExitCode> {
  if (id !== undefined || olderThan === undefined) {
    const what = id === undefined ? '--older-than is missing.' : 'A run cannot be combined with --ended.';
    throw usageError(what, 'Write, for example: devs rm --ended --older-than 30d.');
  }
  const olderThanMs = toMilliseconds(olderThan);
  const removal = { by: humanFrom(by), force };
  const { removed, kept } =
    session.cluster === null
      ? await withRuns(session, (devs) => removeOld(devs, { removal, olderThanMs, tenant }, session))
      : await withAdmin(session, (admin) =>
          admin.removeEnded({ olderThanMs, tenant, ...(!force && { exceptGraph: PIPELINE }) }),
        );
  const runs = (count: number): string => (count === 1 ? '1 run' : `${count} runs`);
  session.out.result({ removed, kept }, [
    `removed ${runs(removed)}`,
    ...(kept === 0 ? [] : [`kept ${runs(kept)}: their work may exist nowhere else, or something needs them`]),
  ]);
  return EXIT.ok;
}

/** Name of the pipeline in a cluster: commits of its runs can be in their files alone. */
const PIPELINE = 'pipeline';

interface OldRuns {
  readonly removal: Removal;
  readonly olderThanMs: number;
  readonly tenant: string | undefined;
}

/** In a state file. */
async function removeOld(
  devs: Orchestrator,
  { removal, olderThanMs, tenant }: OldRuns,
  session: Session,
): Promise<{ readonly removed: number; readonly kept: number }> {
  const before = new Date(Date.now() - olderThanMs).toISOString();
  const old: string[] = [];
  const page = { status: ENDED_STATUSES, limit: PAGE, ...(tenant !== undefined && { tenant }) };
  for (let after: string | undefined; ; ) {
    const runs = await devs.list({ ...page, ...(after !== undefined && { after }) });
    old.push(...runs.filter(({ endedAt }) => (endedAt ?? before) < before).map(({ id }) => id));
    if (runs.length < PAGE) break;
    after = runs.at(-1)?.id;
  }
  let kept = 0;
  for (const id of old) {
    try {
      await removeHere(devs, id, removal, session);
    } catch (error) {
      if (!isDevsError(error, 'REMOVE_REFUSED') && !isDevsError(error, 'THREAD_BUSY')) throw error;
      kept += 1;
    }
  }
  return { removed: old.length - kept, kept };
}

/** Runs of which everything is read at once. */
const PAGE = 50;

/** And its folder and its branch. */
const removeHere = async (
  devs: Orchestrator,
  id: string,
  removal: Removal,
  session: Session,
): ReturnType<Orchestrator['remove']> => devs.remove(id, await withFiles(devs, id, removal, session));

/** Of a run without a repository that others reach, what it made is in its file alone. */
async function assertElsewhere(run: Run): Promise<void> {
  const { tasks } = await run.status();
  if (tasks.every((task) => task.gitHash === null)) return;
  if (REPOSITORY_URL.test(parseSpec(await run.agentsRef())?.repository ?? '')) return;
  throw new DevsError(`Run "${run.id}" was not removed: its commits exist nowhere else.`, {
    code: 'REMOVE_REFUSED',
    remedy: 'Fetch the run and its commits with devs pull, or remove it anyway with --force.',
    context: { threadId: run.id, reason: 'not_delivered' },
  });
}

/** And with the folder and the branch that the run has here. */
async function withFiles(
  devs: Orchestrator,
  id: string,
  removal: Removal,
  { dir }: Session,
): Promise<Removal> {
  const spec = parseSpec(await (await devs.run(id)).agentsRef());
  const repository = spec === null ? {} : repositoryFor({ ...spec, repository: repositoryIn(dir, spec) });
  return { ...removal, workspace: new GitWorkspace({ dir, ...repository }) };
}

const wordsElsewhere = ({ id }: Awaited<ReturnType<Orchestrator['remove']>>): string =>
  `removed ${id} and the record of its decisions; its branch and the folders of workers are kept`;

function formatRemoved({ id, branch }: Awaited<ReturnType<Orchestrator['remove']>>): string {
  const removed = `removed ${id}; the record of its decisions is kept`;
  if (branch === null) return removed;
  const { name } = branch;
  return branch.removed
    ? `${removed}; the branch ${name} was deleted`
    : `${removed}; the branch ${name} is kept, to delete it: git branch -D ${name}`;
}
