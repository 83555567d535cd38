import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withAdmin } from '../../project/openCluster.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { usageError } from '../../usageError.ts';

export function addRetry(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('retry', options)
    .description('execute failed or paused runs of a cluster again; recorded steps are not repeated')
    .argument('[id]', 'run')
    .option('--all', 'all failed runs')
    .option('--paused', 'runs that were paused, not runs that failed')
    .option('--error <code>', 'with --all: only runs whose reason has this error code or text')
    .option('--tenant <name>', 'with --all: only runs of this tenant')
    .addHelpText('after', examples('devs retry mail-7', 'devs retry --all --error STATE_IO --tenant acme'))
    .action((id: string | undefined, flags: RetryFlags, command: Command) =>
      start(command, (session) => retry(id, flags, session)),
    );
}

interface RetryFlags {
  readonly all?: true;
  readonly error?: string;
  readonly tenant?: string;
  readonly paused?: true;
}

async function retry(
  id: string | undefined,
  { error, tenant, paused = false, ...flags }: Omit<RetryFlags, 'paused'> & { readonly paused?: boolean },
  session: Session,
): Promise<ExitCode> {
  if (
    (id !== undefined) === (flags.all === true) ||
    (id !== undefined && (error !== undefined || tenant !== undefined))
  )
    throw usageError('The runs are ambiguous.', 'Name a run, or use --all with --error and --tenant.');
  const retried = await withAdmin(session, (admin) => admin.retry({ id, error, tenant, paused }));
  const lines = retried.map((each) => `${each} waits for a worker again`);
  session.out.result(
    { retried },
    lines.length === 0 ? [`No ${paused ? 'paused' : 'failed'} run matches.`] : lines,
  );
  return EXIT.ok;
}
