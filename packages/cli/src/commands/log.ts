import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { withView } from '../project/openProject.ts';
import type { Session } from '../project/Session.ts';
import { examples, type Start } from '../project/Start.ts';
import { wholeLog } from '../project/wholeLog.ts';
import { storyRow } from '../render/storyRow.ts';
import { columns } from '../terminal/columns.ts';

export function addLog(program: Command, start: Start): void {
  program
    .command('log')
    .description('tell what happened in a run, oldest first')
    .argument('<id>', 'run')
    .addHelpText('after', examples('devs log csv-export', 'devs log csv-export --json'))
    .action((id: string, _options: object, command: Command) =>
      start(command, (session) => log(id, session)),
    );
}

async function log(id: string, session: Session): Promise<ExitCode> {
  const entries = await withView(session, async (devs) => wholeLog(await devs.run(id)));
  const rows = entries.flatMap(storyRow);
  await session.out.pages(entries, rows.length === 0 ? ['Nothing has happened yet.'] : columns(rows));
  return EXIT.ok;
}
