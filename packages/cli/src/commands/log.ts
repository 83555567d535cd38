import type { EventName, LogEntry, OrchestratorEvents } from '@devs/core';
import type { Command } from 'commander';
import { columns } from '../columns.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { withRuns } from '../openProject.ts';
import type { Session } from '../Session.ts';
import { examples, type Start } from '../Start.ts';
import { sentence, taskLabel } from '../sentence.ts';
import { wholeLog } from '../wholeLog.ts';

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
  const entries = await withRuns(session, async (devs) => wholeLog(devs.run(id)));
  const rows = entries.flatMap(storyRow);
  session.out.result(entries, rows.length === 0 ? ['Nothing has happened yet.'] : columns(rows));
  return EXIT.ok;
}

/** Time (UTC, to the second), task and sentence; nothing for entries that tell people nothing. */
function storyRow({ at, name, taskId, payload }: LogEntry): readonly (readonly string[])[] {
  const eventName = name as EventName;
  const text = sentence(eventName, payload as OrchestratorEvents[typeof eventName]);
  return text === null ? [] : [[`${at.slice(0, 19).replace('T', ' ')}Z`, taskLabel(taskId), text]];
}
