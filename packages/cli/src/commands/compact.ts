import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { toMilliseconds } from '../flags/optionValues.ts';
import { withRuns } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';

interface CompactFlags {
  readonly for?: string;
}

export function addCompact(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('compact', options)
    .description('make the state file smaller, and overwrite what was deleted from it')
    .option('--for <time>', 'stop after this time, such as 30s or 5m (default: until it is done)')
    .addHelpText('after', examples('devs compact', 'devs compact --for 10s'))
    .action((flags: CompactFlags, command: Command) => start(command, (session) => compact(flags, session)));
}

async function compact(flags: CompactFlags, session: Session): Promise<ExitCode> {
  const maxMs = flags.for === undefined ? Number.POSITIVE_INFINITY : toMilliseconds(flags.for);
  const result = await withRuns(session, (devs) => devs.compact({ maxMs }));
  const { done, freedBytes, fileBytes, needsMs = 0 } = result;
  session.out.result(result, [
    `the state file has ${fileBytes} bytes, ${freedBytes} fewer than before`,
    ...(done ? [] : [`it is not done: run it again, with --for ${Math.ceil(needsMs / 1000) + 1}s or more`]),
  ]);
  return EXIT.ok;
}
