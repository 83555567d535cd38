import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withRuns } from '../../project/openProject.ts';
import type { Session } from '../../project/Session.ts';
import { examples, type Start } from '../../project/Start.ts';

export function addCancel(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('cancel', options)
    .description('end a run for good, at its next safe point or with its next resume')
    .argument('<id>', 'run')
    .addHelpText('after', examples('devs admin cancel csv-export'))
    .action((id: string, _options: object, command: Command) =>
      start(command, (session) => cancel(id, session)),
    );
}

async function cancel(id: string, session: Session): Promise<ExitCode> {
  await withRuns(session, async (devs) => (await devs.run(id)).cancel());
  session.out.result({ id, requested: 'cancel' }, [
    `${id} ends at its next safe point; its commits and its log stay`,
  ]);
  return EXIT.ok;
}
