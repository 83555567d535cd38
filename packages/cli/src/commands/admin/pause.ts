import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { humanIfNamed } from '../../flags/humanFrom.ts';
import { withLabelFlags } from '../../flags/labelFlags.ts';
import { type EachFlags, eachLines, meansAll, withEach } from '../../project/eachRun.ts';
import { withRuns } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';

export function addPause(program: Command, start: Start, options?: CommandOptions): void {
  const command = program
    .command('pause', options)
    .description('stop a run at its next safe point, or at once')
    .argument('[id]', 'run')
    .option('--all', 'all runs that have not ended, or those that match the other flags')
    .option('--abort', 'abort calls in flight; they are made again on resume')
    .option('--by <name>', 'your name for the record (default: your user name)');
  withLabelFlags(command)
    .addHelpText(
      'after',
      examples('devs pause csv-export', 'devs pause csv-export --abort', 'devs pause --all --tenant acme'),
    )
    .action((id: string | undefined, flags: PauseFlags, command: Command) =>
      start(command, (session) =>
        meansAll(id, flags) ? pauseAll(flags, session) : pause(id ?? '', flags, session),
      ),
    );
}

async function pauseAll(flags: PauseFlags, session: Session): Promise<ExitCode> {
  const { abort = false, by: name } = flags;
  const by = humanIfNamed(name);
  const status = ['created', 'running', 'waiting'] as const;
  const paused = await withEach({ ...flags, status }, session, (run) =>
    run.pause({ abort, ...(by && { by }) }),
  );
  session.out.result(
    { requested: 'pause', ...paused },
    eachLines(paused, abort ? 'stops now' : 'will stop at its next safe point'),
  );
  return EXIT.ok;
}

interface PauseFlags extends EachFlags {
  readonly abort?: boolean;
  readonly by?: string;
}

async function pause(
  id: string,
  { abort = false, by: name }: PauseFlags,
  session: Session,
): Promise<ExitCode> {
  const by = humanIfNamed(name);
  const { isAccepted: accepted, status } = await withRuns(session, async (devs) =>
    (await devs.run(id)).pause({ abort, ...(by && { by }) }),
  );
  const words = abort ? `${id} stops now` : `${id} will stop at its next safe point`;
  session.out.result(
    { id, requested: 'pause', ...(abort && { abort }), accepted, status },
    accepted
      ? [words, `resume: ${session.devs('resume', id)}`]
      : [`nothing to pause: ${id} has already ended: ${status}`],
  );
  return EXIT.ok;
}
