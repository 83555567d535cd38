import { GitWorkspace } from '@devs/agents';
import type { RemovedRun } from '@devs/core';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import { parseSpec } from '../flags/runSpec.ts';
import { withRuns } from '../project/openProject.ts';
import type { Session } from '../project/Session.ts';
import { examples, type Start } from '../project/Start.ts';
import { repositoryIn } from '../project/specOf.ts';

interface RmOptions {
  readonly force?: true;
  readonly by?: string;
}

export function addRm(program: Command, start: Start): void {
  program
    .command('rm')
    .description('remove a run that has ended: its record, its folder, and its branch if that is merged')
    .argument('<id>', 'run')
    .option(
      '--force',
      'also a run that has not ended, a branch that is not merged, work that is nowhere else',
    )
    .option('--by <name>', 'who removes it (default: your user name)')
    .addHelpText('after', examples('devs rm csv-export', 'devs rm csv-export --force'))
    .action((id: string, options: RmOptions, command: Command) =>
      start(command, (session) => rm(id, options, session)),
    );
}

async function rm(id: string, { force, by }: RmOptions, session: Session): Promise<ExitCode> {
  const human = humanFrom(by);
  const removed = await withRuns(session, async (devs) => {
    const spec = parseSpec(await (await devs.run(id)).agentsRef());
    const repository = spec === null ? null : repositoryIn(session.dir, spec);
    const workspace = new GitWorkspace({ dir: session.dir, ...(repository !== null && { repository }) });
    return devs.remove(id, { by: human, workspace, force: force === true });
  });
  session.out.result(removed, [words(removed)]);
  return EXIT.ok;
}

function words({ id, branch }: RemovedRun): string {
  const removed = `${id} is removed; who decided what and when stays on record`;
  if (branch === null) return removed;
  const { name } = branch;
  return branch.removed
    ? `${removed}; the branch ${name} is gone`
    : `${removed}; the branch ${name} stays, git branch -D ${name} deletes it`;
}
