import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withAdmin } from '../../project/openCluster.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { usageError } from '../../usageError.ts';

export function addRedrive(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('redrive', options)
    .description('execute runs again that the workers of a cluster have given up')
    .argument('[id]', 'run')
    .option('--all', 'all runs that were given up')
    .addHelpText('after', examples('devs redrive post-42', 'devs redrive --all --json'))
    .action((id: string | undefined, { all }: { readonly all?: true }, command: Command) =>
      start(command, (session) => redrive(which(id, all === true), session)),
    );
}

/** @returns `null` for all. */
function which(id: string | undefined, all: boolean): string | null {
  if ((id !== undefined) !== all) return id ?? null;
  throw usageError('The run is missing.', 'Name a run, or use --all without a name.');
}

async function redrive(id: string | null, session: Session): Promise<ExitCode> {
  const redriven = await withAdmin(session, (admin) => admin.redrive(id));
  const lines = redriven.map((each) => `${each} waits for a worker again`);
  session.out.result({ redriven }, lines.length === 0 ? ['There are no dead letters.'] : lines);
  return EXIT.ok;
}
