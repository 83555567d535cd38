import type { Run } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { gitAuthor } from '../../flags/gitAuthor.ts';
import { humanFrom } from '../../flags/humanFrom.ts';
import { agentsFrom } from '../../project/agentsFrom.ts';
import { withProject } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { specOf } from '../../project/specOf.ts';
import type { Line } from '../../terminal/Line.ts';

interface AdoptFlags {
  readonly message?: string;
  readonly author?: string;
  readonly by?: string;
}

export function addAdopt(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('adopt', options)
    .description(
      "commit your own changes in a run's folder, and run the checks on them; does not resume the run",
    )
    .argument('<id>', 'run')
    .option('-m, --message <text>', 'commit message')
    .option('--author <who>', "'Name <address>' (default: the author that git is configured with)")
    .option('--by <name>', 'your name for the record (default: your user name)')
    .addHelpText(
      'after',
      examples(
        'devs admin adopt csv-export',
        "devs admin adopt csv-export -m 'Quote fields' && devs resume csv-export",
      ),
    )
    .action((id: string, flags: AdoptFlags, command: Command) =>
      start(command, (session) => adopt(id, flags, session)),
    );
}

async function adopt(id: string, { message, author, by }: AdoptFlags, session: Session): Promise<ExitCode> {
  const human = humanFrom(by);
  const spec = await specOf(id, {}, session);
  const signed = await gitAuthor(author, session.dir);
  const { signal } = session.io;
  const adopted = await withProject(session, await agentsFrom(spec, session), async (devs) =>
    (await devs.run(id)).adopt({
      by: human,
      author: signed,
      signal,
      ...(message !== undefined && { message }),
    }),
  );
  session.out.result({ id, run: id, adopted }, renderAdopted(adopted, session.devs('resume', id)));
  return EXIT.ok;
}

function renderAdopted(adopted: Awaited<ReturnType<Run['adopt']>>, resume: string): readonly Line[] {
  if (adopted === null) return ["no changes in the run's folder"];
  const { commit, files, checks } = adopted;
  return [
    `committed ${commit.slice(0, 7)}: ${files === 1 ? '1 file' : `${files} files`}`,
    checks.passed ? 'the checks pass' : `the checks fail; the commit is kept\n${checks.output}`,
    `to resume from there: ${resume}`,
  ];
}
