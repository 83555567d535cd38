import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { humanFrom } from '../../flags/humanFrom.ts';
import { namedCluster } from '../../project/openCluster.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';

interface PushFlags {
  readonly file?: string;
  readonly graph?: string;
  readonly tenant?: string;
  readonly by?: string;
}

export function addPush(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('push', options)
    .description('move a run from here into a cluster, where workers continue it')
    .argument('<id>', 'run')
    .option('--file <file>', "state file of your own graph (default: the project's)")
    .option('--graph <name>', 'name of your own graph in the cluster')
    .option('--tenant <name>', 'tenant that the run belongs to (default: default)')
    .option('--by <name>', 'your name for the record (default: your user name)')
    .addHelpText(
      'after',
      examples(
        'devs push csv-export --db postgres://devs@db.example.org/devs',
        'devs push post-42 --file posts.sqlite --graph posts',
      ),
    )
    .action((id: string, flags: PushFlags, command: Command) =>
      start(command, (session) => push(id, flags, session)),
    );
}

async function push(id: string, { file, graph, tenant, by }: PushFlags, session: Session): Promise<ExitCode> {
  // It loads LangGraph. A worker's app brings its own.
  const { pushRun } = await import('../../project/moveRun.ts');
  const { shown } = namedCluster(session);
  const place = tenant === undefined ? {} : { tenant };
  const pushed = await pushRun({ id, file, graph, by: humanFrom(by), ...place }, session);
  session.out.result({ id, pushed, to: shown }, [
    pushed ? `moved ${id} to ${shown}` : `${id} is already in ${shown}`,
    `status: ${session.devs('status', id)}`,
  ]);
  return EXIT.ok;
}
