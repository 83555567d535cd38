import type { Run } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { humanFrom } from '../../flags/humanFrom.ts';
import { agentsFrom } from '../../project/agentsFrom.ts';
import { withProject } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { specOf } from '../../project/specOf.ts';
import { formatDelivery } from '../../render/renderOutcome.ts';
import type { Line } from '../../terminal/Line.ts';

export function addSync(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('sync', options)
    .description("move a run's commits onto your newer commits; does not change your checkout")
    .argument('<id>', 'run')
    .option('--by <name>', 'your name for the record (default: your user name)')
    .addHelpText('after', examples('devs admin sync csv-export'))
    .action((id: string, { by }: { readonly by?: string }, command: Command) =>
      start(command, (session) => sync(id, by, session)),
    );
}

async function sync(id: string, by: string | undefined, session: Session): Promise<ExitCode> {
  const human = humanFrom(by);
  const spec = await specOf(id, {}, session);
  const synced = await withProject(session, await agentsFrom(spec, session), async (devs) =>
    (await devs.run(id)).sync({ by: human }),
  );
  session.out.result({ id, run: id, synced }, renderSynced(synced));
  return EXIT.ok;
}

function renderSynced(synced: Awaited<ReturnType<Run['sync']>>): readonly Line[] {
  if (synced === null)
    return ['nothing to sync: you have no new commits since the run started or since the last sync'];
  const { base, commits, before, delivery } = synced;
  return [
    `moved ${commits === 1 ? '1 commit' : `${commits} commits`} of the run onto ${base.slice(0, 7)}`,
    ...(before === null ? [] : [`the original commits: ${before}, in the run's folder`]),
    ...(delivery === null ? [] : [formatDelivery(delivery)]),
  ];
}
