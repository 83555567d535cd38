import { GitWorkspace } from '@devs/agents';
import { DevsError, type Orchestrator, type Run } from '@devs/core';
import type { Command } from 'commander';
import { REPOSITORY_URL } from '../config/ProjectConfig.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import { parseSpec, repositoryFor } from '../flags/runSpec.ts';
import { withRuns } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { repositoryIn } from '../project/specOf.ts';

interface RmOptions {
  readonly force?: boolean;
  readonly by?: string;
}

export function addRm(program: Command, start: Start): void {
  program
    .command('rm')
    .description('remove a run that has ended: its record, its folder, and its branch if it is merged')
    .argument('<id>', 'run')
    .option(
      '--force',
      'remove it even if it has not ended, its branch is not merged, or its work exists nowhere else',
    )
    .option('--by <name>', 'your name for the record (default: your user name)')
    .addHelpText('after', examples('devs rm csv-export', 'devs rm csv-export --force'))
    .action((id: string, options: RmOptions, command: Command) =>
      start(command, (session) => rm(id, options, session)),
    );
}

async function rm(id: string, { force = false, by }: RmOptions, session: Session): Promise<ExitCode> {
  const removal = { by: humanFrom(by), force };
  const removed = await withRuns(session, async (devs) => {
    if (session.cluster === null) return devs.remove(id, await withFiles(devs, id, removal, session));
    if (!force) await devs.view(id, assertElsewhere);
    return devs.remove(id, removal);
  });
  session.out.result(removed, [session.cluster === null ? formatRemoved(removed) : wordsElsewhere(removed)]);
  return EXIT.ok;
}

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
  removal: Parameters<Orchestrator['remove']>[1],
  { dir }: Session,
): Promise<Parameters<Orchestrator['remove']>[1]> {
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
