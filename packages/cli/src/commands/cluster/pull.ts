import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { namedCluster } from '../../project/openCluster.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';

export function addPull(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('pull', options)
    .description('move a run from a cluster into a state file here, to continue it here')
    .argument('<id>', 'run')
    .option('--file <file>', "state file of your own graph (default: the project's)")
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
  // It loads LangGraph. A worker's app brings its own.
  const { pullRun } = await import('../../project/moveRun.ts');
  const from = namedCluster(session).shown;
  const pulled = await pullRun({ id, file }, session);
  const document = {
    id,
    pulled: pulled !== null,
    from,
    file: pulled?.stateFile ?? null,
    kept: pulled?.kept ?? null,
  };
  if (pulled === null) session.out.result(document, [`${id} is already here`]);
  else {
    session.out.result(document, [
      `moved ${id} from ${from} to ${pulled.stateFile}`,
      ...(pulled.kept === null ? [] : [`the previous state file, which had no runs, is now ${pulled.kept}`]),
    ]);
  }
  return EXIT.ok;
}
