import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { pullRun } from '../../project/moveRun.ts';
import { namedCluster } from '../../project/openCluster.ts';
import type { Session } from '../../project/Session.ts';
import { examples, type Start } from '../../project/Start.ts';

export function addPull(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('pull', options)
    .description('move a run from a cluster into a state file here, where it goes on')
    .argument('<id>', 'run')
    .option('--file <file>', 'state file of a graph of your own (default: that of the project)')
    .addHelpText(
      'after',
      examples(
        'devs pull csv-export --db postgres://devs@db.example.org/devs',
        'devs pull post-42 --file post-42.sqlite',
      ),
    )
    .action((id: string, { file }: { readonly file?: string }, command: Command) =>
      start(command, (session) => pull(id, file, session)),
    );
}

async function pull(id: string, file: string | undefined, session: Session): Promise<ExitCode> {
  const from = namedCluster(session).shown;
  const pulled = await pullRun({ id, file }, session);
  const document = {
    id,
    pulled: pulled !== null,
    from,
    file: pulled?.stateFile ?? null,
    kept: pulled?.kept ?? null,
  };
  if (pulled === null) session.out.result(document, [`${id} is here already`]);
  else {
    session.out.result(document, [
      `${id} is in ${pulled.stateFile}, and not in ${from} any more`,
      ...(pulled.kept === null ? [] : [`the state file without runs that was there is ${pulled.kept}`]),
    ]);
  }
  return EXIT.ok;
}
