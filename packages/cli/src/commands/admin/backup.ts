import path from 'node:path';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withView } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';

export function addBackup(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('backup', options)
    .description('copy the state file, even while runs execute; never copy it by hand')
    .argument('<file>', 'path of a new file')
    .addHelpText('after', examples('devs admin backup before-upgrade.sqlite'))
    .action((file: string, _options: object, command: Command) =>
      start(command, (session) => backup(file, session)),
    );
}

async function backup(file: string, session: Session): Promise<ExitCode> {
  const target = path.resolve(session.io.cwd, file);
  const copy = await withView(session, async (devs) => devs.backup(target));
  session.out.result(copy, [
    `wrote ${copy.path} (${copy.bytes} bytes)`,
    'The copy does not include the git stores of the runs, .devs/git.',
  ]);
  return EXIT.ok;
}
