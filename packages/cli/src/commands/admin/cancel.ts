import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withRuns } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';

export function addCancel(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('cancel', options)
    .description('cancel a run; calls in flight are aborted')
    .argument('<id>', 'run')
    .addHelpText('after', examples('devs cancel csv-export'))
    .action((id: string, _options: object, command: Command) =>
      start(command, (session) => cancel(id, session)),
    );
}

async function cancel(id: string, session: Session): Promise<ExitCode> {
  const { status, driver } = await withRuns(session, async (devs) => {
    const run = await devs.run(id);
    await run.cancel();
    return run.status();
  });
  session.out.result({ id, requested: 'cancel', status }, [
    driver === null
      ? `${id} is ${status}; its commits and its log are kept`
      : `${id} is being ended by the process that runs it; its commits and its log are kept`,
  ]);
  return EXIT.ok;
}
