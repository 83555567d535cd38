import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withAdmin } from '../../project/openCluster.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { workerLines } from '../../render/clusterLines.ts';

export function addWorkers(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('workers', options)
    .description('list the workers of a cluster and the runs they execute')
    .addHelpText(
      'after',
      examples('devs workers --db postgres://devs@db.example.org/devs', 'devs workers --json'),
    )
    .action((_options: object, command: Command) => start(command, workers));
}

async function workers(session: Session): Promise<ExitCode> {
  const all = await withAdmin(session, (admin) => admin.workers());
  session.out.result(all, workerLines(all));
  return EXIT.ok;
}
