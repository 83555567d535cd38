import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { humanIfNamed } from '../../flags/humanFrom.ts';
import { withRuns } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';

export function addCancel(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('cancel', options)
    .description('cancel a run; calls in flight are aborted')
    .argument('<id>', 'run')
    .option('--by <name>', 'your name for the record (default: your user name)')
    .addHelpText('after', examples('devs cancel csv-export'))
    .action((id: string, { by }: CancelFlags, command: Command) =>
      start(command, (session) => cancel(id, by, session)),
    );
}

interface CancelFlags {
  readonly by?: string;
}

async function cancel(id: string, name: string | undefined, session: Session): Promise<ExitCode> {
  const by = humanIfNamed(name);
  const { accepted, status, driver } = await withRuns(session, async (devs) => {
    const run = await devs.run(id);
    const { isAccepted } = await run.cancel({ ...(by && { by }) });
    return { accepted: isAccepted, ...(await run.status()) };
  });
  const words = driver === null ? `is ${status}` : 'is being ended by the process that runs it';
  session.out.result({ id, requested: 'cancel', accepted, status }, [
    accepted
      ? `${id} ${words}; its commits and its log are kept`
      : `nothing to cancel: ${id} has already ended: ${status}`,
  ]);
  return EXIT.ok;
}
