import type { Command, CommandOptions } from 'commander';
import { repositoryAround } from '../../config/repositoryAround.ts';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withRuns } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';

export function addGc(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('gc', options)
    .description('remove unused values from the state file, and folders and stores without a run')
    .addHelpText('after', examples('devs admin gc', 'devs admin gc --json'))
    .action((_options: object, command: Command) => start(command, gc));
}

async function gc(session: Session): Promise<ExitCode> {
  const { GitWorkspace } = await import('@devs/agents');
  const repository = repositoryAround(session.dir);
  const workspace = new GitWorkspace({
    dir: session.dir,
    ...(repository === session.dir && { repository }),
  });
  const collected = await withRuns(session, (devs) => devs.collect({ workspace }));
  const { values, bytes, files } = collected;
  session.out.result(collected, [
    `removed ${values} values, ${bytes} bytes of the state file are free for reuse; removed ${files} bytes of files`,
  ]);
  return EXIT.ok;
}
