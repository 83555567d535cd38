import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withRuns } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { usageError } from '../../usageError.ts';

const DEFAULT_KEEP = '50';

export function addPrune(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('prune', options)
    .description('remove old checkpoints of a run; keeps the checkpoints it needs to resume')
    .argument('<id>', 'run')
    .option('--keep <count>', 'number of newest checkpoints to keep', DEFAULT_KEEP)
    .addHelpText('after', examples('devs admin prune csv-export', 'devs admin prune csv-export --keep 10'))
    .action((id: string, { keep }: { readonly keep: string }, command: Command) =>
      start(command, (session) => prune(id, parseKeepCount(keep), session)),
    );
}

async function prune(id: string, keepLast: number, session: Session): Promise<ExitCode> {
  const result = await withRuns(session, async (devs) => (await devs.run(id)).prune({ keepLast }));
  const { kept, removed } = result;
  session.out.result({ id, ...result }, [`${id}: ${removed} checkpoints removed, ${kept} kept`]);
  return EXIT.ok;
}

function parseKeepCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError(
    `"${text}" is not a number of checkpoints.`,
    'Use a whole number from 1, such as --keep 50.',
  );
}
