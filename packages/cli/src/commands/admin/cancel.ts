import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { humanIfNamed } from '../../flags/humanFrom.ts';
import { withLabelFlags } from '../../flags/labelFlags.ts';
import { type EachFlags, eachLines, meansAll, withEach } from '../../project/eachRun.ts';
import { withRuns } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';

export function addCancel(program: Command, start: Start, options?: CommandOptions): void {
  const command = program
    .command('cancel', options)
    .description('cancel a run; calls in flight are aborted')
    .argument('[id]', 'run')
    .option('--all', 'all runs that have not ended, or those that match the other flags')
    .option('--by <name>', 'your name for the record (default: your user name)');
  withLabelFlags(command)
    .addHelpText('after', examples('devs cancel csv-export', 'devs cancel --all --tag nightly'))
    .action((id: string | undefined, flags: CancelFlags, command: Command) =>
      start(command, (session) =>
        meansAll(id, flags) ? cancelAll(flags, session) : cancel(id ?? '', flags.by, session),
      ),
    );
}

async function cancelAll(flags: CancelFlags, session: Session): Promise<ExitCode> {
  const by = humanIfNamed(flags.by);
  const status = ['created', 'running', 'waiting', 'paused'] as const;
  const cancelled = await withEach({ ...flags, status }, session, (run) => run.cancel({ ...(by && { by }) }));
  session.out.result({ requested: 'cancel', ...cancelled }, eachLines(cancelled, 'is being cancelled'));
  return EXIT.ok;
}

interface CancelFlags extends EachFlags {
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
