import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withRuns } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';

export function addPause(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('pause', options)
    .description('stop a run at its next safe point')
    .argument('<id>', 'run')
    .addHelpText('after', examples('devs admin pause csv-export'))
    .action((id: string, _options: object, command: Command) =>
      start(command, (session) => pause(id, session)),
    );
}

async function pause(id: string, session: Session): Promise<ExitCode> {
  await withRuns(session, async (devs) => (await devs.run(id)).pause());
  session.out.result({ id, requested: 'pause' }, [
    `${id} will stop at its next safe point`,
    `resume: ${session.devs('resume', id)}`,
  ]);
  return EXIT.ok;
}
