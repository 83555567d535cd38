import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { humanFrom } from '../../flags/humanFrom.ts';
import { withRuns } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { resumeCommand } from '../../render/nextCommands.ts';

export function addRevive(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('revive', options)
    .description(
      'revive a run that was given up (dead_letter) because its processes kept dying; does not resume it',
    )
    .argument('<id>', 'run')
    .option('--by <name>', 'your name for the record (default: your user name)')
    .addHelpText('after', examples('devs admin revive csv-export && devs resume csv-export'))
    .action((id: string, { by }: { readonly by?: string }, command: Command) =>
      start(command, (session) => revive(id, by, session)),
    );
}

async function revive(id: string, name: string | undefined, session: Session): Promise<ExitCode> {
  const by = humanFrom(name);
  const { revived, resume } = await withRuns(session, async (devs) => {
    const run = await devs.run(id);
    const revived = await run.revive({ by });
    return { revived, resume: resumeCommand(await run.status(), session.devs) };
  });
  session.out.result({ id, run: id, revived, principal: by }, [
    revived ? `recorded; to resume: ${resume}` : `nothing to revive: ${id} was not given up`,
  ]);
  return EXIT.ok;
}
