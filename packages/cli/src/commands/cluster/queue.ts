import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withAdmin } from '../../project/openCluster.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { queueLines } from '../../render/clusterLines.ts';

export function addQueue(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('queue', options)
    .description(
      'show the runs that wait for a worker, per graph and tenant, and the runs that were given up',
    )
    .option('--tenant <name>', 'only jobs, runs and dead letters of this tenant')
    .addHelpText(
      'after',
      examples(
        'devs queue --db postgres://devs@db.example.org/devs',
        'devs queue --tenant acme',
        'devs queue --json',
      ),
    )
    .action(({ tenant }: { readonly tenant?: string }, command: Command) =>
      start(command, (session) => queue(tenant, session)),
    );
}

async function queue(tenant: string | undefined, session: Session): Promise<ExitCode> {
  const queue = await withAdmin(session, (admin) => admin.queue({ tenant }));
  // `runId` is for scripts from before everything that belongs to a run named it `threadId`.
  const deadLetters = queue.deadLetters.map((letter) => ({ ...letter, runId: letter.threadId }));
  session.out.result({ ...queue, deadLetters }, queueLines(queue, session));
  return EXIT.ok;
}
